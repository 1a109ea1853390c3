//! The time at which everything that a call waits for ends: so long before the call's own time is used up that its
//! plugin can still say that it got no answer.
//!
//! The call owns it and puts it off as its clock says. Between two looks at the clock, the time in which the whole
//! process stands still puts it off too, so that a stopped machine never looks like a host that does not answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::limits;
use parking_lot::Mutex;
use tokio::time::sleep_until;

use crate::clock::CallClock;
use crate::ticker::Stalls;

/// A time that moves on while the process stands still.
#[derive(Clone)]
pub(crate) struct MovingEnd {
    at: Instant,
    /// The sum of `stalls` when `at` was set.
    stalled: Duration,
    stalls: Arc<Stalls>,
}

impl MovingEnd {
    fn new(at: Instant, stalls: &Arc<Stalls>) -> Self {
        Self { at, stalled: stalls.until(Instant::now()), stalls: Arc::clone(stalls) }
    }

    fn at(&self) -> Instant {
        self.at + self.stalls.until(Instant::now()).saturating_sub(self.stalled)
    }

    /// Waits for the end.
    pub(crate) async fn reached(&self) {
        while Instant::now() < self.at() {
            sleep_until(self.at().into()).await;
        }
    }
}

/// Shared by a call and all that it waits for.
pub(crate) struct LatestEnd {
    reserve: Duration,
    stalls: Arc<Stalls>,
    end: Mutex<MovingEnd>,
}

impl LatestEnd {
    pub(crate) fn of(clock: &CallClock) -> Self {
        let reserve = clock.limit() / 10;
        let reserve = reserve.min(Duration::from_millis(limits::HTTP_RESERVE_MS));
        let stalls = Arc::clone(clock.stalls());
        let end = Mutex::new(end_of(clock, reserve));
        Self { reserve, stalls, end }
    }

    /// Adds the time in which the guest was ready and did not run.
    pub(crate) fn put_off(&self, clock: &CallClock) {
        *self.end.lock() = end_of(clock, self.reserve);
    }

    /// The end of a wait that is to take this long; `None` if that is too far away.
    pub(crate) fn after(&self, span: Duration) -> Option<MovingEnd> {
        Some(MovingEnd::new(Instant::now().checked_add(span)?, &self.stalls))
    }

    /// Waits for the end.
    pub(crate) async fn reached(&self) {
        loop {
            let end = self.end.lock().clone();
            end.reached().await;
            if self.has_come() {
                return;
            }
        }
    }

    fn has_come(&self) -> bool {
        Instant::now() >= self.end.lock().at()
    }
}

fn end_of(clock: &CallClock, reserve: Duration) -> MovingEnd {
    let deadline = clock.deadline();
    MovingEnd::new(deadline.checked_sub(reserve).unwrap_or(deadline), clock.stalls())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn left(end: &LatestEnd) -> Duration {
        end.end.lock().at().saturating_duration_since(Instant::now())
    }

    #[test]
    fn a_guest_that_did_not_run_has_all_of_its_time_for_requests() {
        let long_ago = Instant::now().checked_sub(LIMIT * 2).expect("the machine runs longer");
        let clock = CallClock::new(long_ago, LIMIT, Arc::default());
        let end = LatestEnd::of(&clock);
        assert!(left(&end) > LIMIT / 2, "{:?}", left(&end));
        *end.end.lock() = MovingEnd::new(Instant::now(), clock.stalls());
        assert!(end.has_come());
        end.put_off(&clock);
        assert!(left(&end) > LIMIT / 2, "{:?}", left(&end));
    }

    #[test]
    fn time_in_which_the_process_stood_still_puts_the_end_off() {
        let stalls: Arc<Stalls> = Arc::default();
        let clock = CallClock::new(Instant::now(), LIMIT, Arc::clone(&stalls));
        let end = LatestEnd::of(&clock);
        let mut asked = end.after(LIMIT).expect("it is near");
        asked.at = Instant::now();
        stalls.add(LIMIT * 2);
        assert!(left(&end) > LIMIT * 2, "{:?}", left(&end));
        assert!(asked.at() > Instant::now() + LIMIT);
    }
}
