//! Processes that burn CPU time, to make a machine busy.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::available_parallelism;

use anyhow::{Context, Result};
use nix::unistd::{SysconfVar, sysconf};

/// Ends by itself soon after the process that started it has ended.
const SCRIPT: &str = "\
while kill -0 $PPID 2>/dev/null; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done";
/// The fields of /proc/PID/stat with the process's own user and system time, counted from the one
/// behind its name.
const TIME_FIELDS: std::ops::Range<usize> = 11..13;

/// They end with this value.
pub(crate) struct Burners(Vec<Child>);

impl Burners {
    pub(crate) fn start(a_core: usize) -> Result<Self> {
        let mut burners = Self(Vec::new());
        for _ in 0..a_core * available_parallelism()?.get() {
            // The scheduler shares out cores by session first: all in ours would get one's share.
            let mut shell = Command::new("setsid");
            shell.args(["/bin/sh", "-c", SCRIPT]).stdin(Stdio::null());
            burners.0.push(shell.spawn().context("setsid of util-linux does not start")?);
        }
        Ok(burners)
    }

    /// The CPU time that they burned, in seconds.
    pub(crate) fn stop(self) -> Result<f64> {
        let a_second = sysconf(SysconfVar::CLK_TCK)?.context("the kernel has a clock")? as f64;
        let ticks = self.0.iter().map(|child| {
            let path = format!("/proc/{}/stat", child.id());
            let stat = fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
            ticks(&stat).with_context(|| format!("{path} makes no sense: {stat}"))
        });
        Ok(ticks.sum::<Result<u64>>()? as f64 / a_second)
    }
}

fn ticks(stat: &str) -> Option<u64> {
    // The name may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    fields.get(TIME_FIELDS)?.iter().map(|field| field.parse::<u64>().ok()).sum()
}

impl Drop for Burners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have been killed by somebody else.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn burners_burn_and_end() {
        let burners = Burners::start(1).expect("they start");
        let pids: Vec<_> = burners.0.iter().map(Child::id).collect();
        let burned = |pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| ticks(&stat))
        };
        let started = Instant::now();
        while !pids.iter().all(|pid| burned(pid) > Some(1)) {
            assert!(started.elapsed() < Duration::from_secs(60), "they burn nothing");
            std::thread::yield_now();
        }
        assert!(burners.stop().expect("they are there") > 0.0);
        assert!(pids.iter().all(|pid| burned(pid).is_none()), "they are gone");
    }

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 95 0 0 0 42 8 0 0 20 0 1 0 100";
        assert_eq!(ticks(stat), Some(50));
        assert_eq!(ticks("7 (sh) S 1 7"), None);
    }
}
