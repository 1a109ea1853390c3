//! The server's clock, the only one that the dispatcher, the fleet and the group commits read.

#[cfg(feature = "simulated")]
pub mod simulated;

use std::sync::OnceLock;
use std::time::Duration;

use assay_core::time::Micros;
use nix::time::{ClockId, clock_gettime};

/// The time of day at the start of the process, and what has passed since then, suspension of the machine included.
/// Somebody who sets the time of day moves no deadline: a server follows it when it starts again.
#[must_use]
pub fn now() -> Micros {
    #[cfg(feature = "simulated")]
    if let Some(now) = simulated::now() {
        return now;
    }
    static START: OnceLock<Start> = OnceLock::new();
    let since_boot = since_boot();
    let start = START.get_or_init(|| Start {
        time_of_day: Micros::from_datetime(time::OffsetDateTime::now_utc()),
        since_boot,
    });
    start.at(since_boot)
}

/// Returns after this time.
pub async fn sleep(span: Duration) {
    #[cfg(feature = "simulated")]
    if let Some(sleep) = simulated::sleep(span) {
        return sleep.await;
    }
    tokio::time::sleep(span).await;
}

/// Returns at this time, or at once if it has passed.
pub async fn sleep_until(at: Micros) {
    sleep(at.since(now()).into()).await;
}

struct Start {
    time_of_day: Micros,
    since_boot: Duration,
}

impl Start {
    fn at(&self, since_boot: Duration) -> Micros {
        self.time_of_day + Micros::from(since_boot.saturating_sub(self.since_boot))
    }
}

fn since_boot() -> Duration {
    clock_gettime(ClockId::CLOCK_BOOTTIME).expect("every Linux has this clock").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_passed_counts() {
        let start = Start { time_of_day: Micros(5_000_000), since_boot: Duration::from_secs(70) };
        assert_eq!(start.at(Duration::from_secs(70)), Micros(5_000_000));
        assert_eq!(start.at(Duration::from_secs(72)), Micros(7_000_000));
        assert_eq!(start.at(Duration::from_secs(1)), Micros(5_000_000));
        let first = now();
        assert!(now() >= first);
    }
}
