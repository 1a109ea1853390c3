//! The run delay of the thread that runs stages: the time for which it was ready to run and had no processor, as the
//! kernel counts it. The thread tells which one it is; the conversation reads the kernel's number with each heartbeat,
//! so that a stage pays nothing for it.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::unistd::gettid;

#[derive(Default)]
pub(crate) struct RunDelay {
    /// The thread's `schedstat`; unset before the thread runs.
    file: OnceLock<PathBuf>,
    /// The kernel's number at the last look, in microseconds.
    taken_us: AtomicU64,
}

impl RunDelay {
    pub(crate) fn watch_this_thread(&self) {
        self.file.get_or_init(|| format!("/proc/self/task/{}/schedstat", gettid()).into());
    }

    /// The run delay since the last call, in microseconds; 0 on a kernel that does not count it.
    pub(crate) fn take_us(&self) -> u64 {
        let stat = self.file.get().and_then(|file| std::fs::read_to_string(file).ok());
        let sum = stat.as_deref().and_then(run_delay_us).unwrap_or_default();
        sum.saturating_sub(self.taken_us.swap(sum, Ordering::Relaxed))
    }
}

/// The second number of a `schedstat`, which is in nanoseconds.
fn run_delay_us(schedstat: &str) -> Option<u64> {
    let nanoseconds: u64 = schedstat.split_whitespace().nth(1)?.parse().ok()?;
    Some(nanoseconds / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_since_the_last_call_is_told() {
        assert_eq!(run_delay_us("1000 2500000 3\n"), Some(2_500));
        assert_eq!(run_delay_us(""), None);
        let delay = RunDelay::default();
        assert_eq!(delay.take_us(), 0);
        let folder = tempfile::tempdir().expect("a folder");
        let file = delay.file.get_or_init(|| folder.path().join("schedstat"));
        for (stat, expected) in [("0 2000000 1", 2_000), ("0 2000000 1", 0), ("0 9000000 2", 7_000)]
        {
            std::fs::write(file, stat).expect("written");
            assert_eq!(delay.take_us(), expected);
        }
    }

    #[test]
    fn the_kernel_counts_for_the_thread_that_asked() {
        let delay = RunDelay::default();
        delay.watch_this_thread();
        let file = delay.file.get().expect("it was set");
        let stat = std::fs::read_to_string(file).expect("the thread lives");
        assert!(run_delay_us(&stat).is_some(), "{stat}");
    }
}
