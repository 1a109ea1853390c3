//! The time of a call, as its limit counts it: the processor time of the guest, and the time that the guest itself
//! chose to wait, for another host, a program or a kernel.
//!
//! Time in which the guest could run and did not is no fault of its own: the machine gave its processors to others, or
//! stopped the whole process. Time in which it waited for Assay itself is not either: for an object, for the helper that
//! makes boxes, for a toolchain that is looked for, for a device that gets ready. Neither ever counts, so that a busy
//! machine or a slow store cannot turn a right answer into a timeout. A call that gets too little of them ends at its
//! limit of wall time, as a failure of ours that is tried again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::limits;
use assay_exec::{HeldUp, JobDeadline};
use nix::time::{ClockId, clock_gettime};

use crate::ticker::Stalls;

/// A wait that was ended at its deadline is a timeout if the call used at least this share of its limit, in percent. A
/// pause of the machine shortens a wait by a little, and a call must not be tried again for that.
const WAITED_PERCENT: u32 = 90;
/// A wait that ends at the limit of wall time may end earlier by so much, as deadlines of boxes are in milliseconds.
const ROUNDING: Duration = Duration::from_millis(2);

pub(crate) struct CallClock {
    started: Instant,
    limit: Duration,
    /// The processor time of the thread at the first look, which is one tick after the start at most, and later by
    /// what the thread used during waits: reading it costs as much as a small call.
    processor_from: Option<Duration>,
    /// The time in waits that have ended.
    waited: Duration,
    /// The time in which Assay itself kept the guest waiting.
    held_up: Duration,
    /// Whether Assay did not give what it was asked for in time, which ends the call.
    given_up: bool,
    /// The wait that goes on.
    wait: Option<Wait>,
    /// The waits that have ended.
    calls: Vec<WaitedCall>,
    stalls: Arc<Stalls>,
}

/// A call of a capability that the guest waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitedCall {
    /// The function, as `exec.run`.
    pub name: &'static str,
    /// The time from the start of the guest's call.
    pub after: Duration,
    pub took: Duration,
}

/// The name of waits for other hosts. A guest polls, so that one answer may take many of them.
pub(crate) const HTTP: &str = "http";
/// Waits for other hosts with less than this between them are shown as one.
const POLL_GAP_MAX: Duration = Duration::from_millis(1);

struct Wait {
    name: &'static str,
    began: Instant,
    stalled: Duration,
    /// The time for which programs or kernels that the guest waited for were ready and had no core.
    starved: Duration,
    /// The part of the wait that Assay itself needed before programs could run.
    setup: Duration,
    /// The processor time that the guest itself had used.
    ran: Duration,
}

/// Why a call was interrupted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// It used its time.
    TimedOut,
    /// It used so much of its time, in so much wall time, and waited so long for Assay itself.
    Starved { used: Duration, wall: Duration, held_up: Duration },
}

impl CallClock {
    pub(crate) fn new(started: Instant, limit: Duration, stalls: Arc<Stalls>) -> Self {
        Self {
            started,
            limit,
            processor_from: None,
            waited: Duration::ZERO,
            held_up: Duration::ZERO,
            given_up: false,
            wait: None,
            calls: Vec::new(),
            stalls,
        }
    }

    /// Whether the guest, which runs, must be interrupted.
    pub(crate) fn is_due(&mut self) -> bool {
        let wall = self.started.elapsed();
        if self.processor_from.is_none() {
            self.processor_from = Some(processor_time());
        }
        // It cannot have used more than has passed.
        wall >= self.limit && (self.is_over() || wall >= self.wall_max())
    }

    /// Whether the call's time is used up.
    ///
    /// A host function that runs past the deadline ends the guest itself. The epoch would do so some
    /// instructions later, and until then the guest could still return an outcome.
    pub(crate) fn is_over(&self) -> bool {
        self.started.elapsed() >= self.limit && self.used() >= self.limit
    }

    /// When the call's time is used up if it waits from now on, and the machine runs.
    pub(crate) fn deadline(&self) -> Instant {
        (Instant::now() + self.limit.saturating_sub(self.used())).min(self.latest())
    }

    /// When the call ends, whatever kept it waiting.
    fn latest(&self) -> Instant {
        self.started + self.wall_max()
    }

    /// Runs what waits for Assay itself, such as an object, until the call's latest end. That time is never the guest's.
    pub(crate) fn wait_for_assay<R>(
        &mut self,
        name: &'static str,
        run: impl FnOnce(Instant) -> R,
    ) -> R {
        self.begin_wait(name);
        let came = run(self.latest());
        if let Some(wait) = &self.wait {
            self.held_up += wait.began.elapsed();
        }
        self.leave_wait(Duration::ZERO);
        came
    }

    /// Notes that Assay itself did not give what it was asked for in time: the call ends, and that is no timeout.
    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Runs programs or kernels until the deadline at the latest. That time is the guest's, without the time for which they were held
    /// up, which `run` returns and which puts the deadline off.
    pub(crate) fn wait_for_programs<R>(
        &mut self,
        name: &'static str,
        run: impl FnOnce(JobDeadline) -> (R, HeldUp),
    ) -> R {
        self.begin_wait(name);
        let (came, held_up) = run(JobDeadline { at: self.deadline(), latest: self.latest() });
        if let Some(wait) = &mut self.wait {
            (wait.starved, wait.setup) = (held_up.starved, held_up.setup);
        }
        self.held_up += held_up.setup;
        self.end_wait();
        came
    }

    /// Begins a wait for the function `name` of a capability.
    pub(crate) fn begin_wait(&mut self, name: &'static str) {
        let began = Instant::now();
        let (stalled, ran) = (self.stalls.until(began), self.ran());
        let none = Duration::ZERO;
        self.wait = Some(Wait { name, began, stalled, starved: none, setup: none, ran });
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    pub(crate) fn stalls(&self) -> &Arc<Stalls> {
        &self.stalls
    }

    pub(crate) fn end_wait(&mut self) {
        self.leave_wait(self.waiting());
    }

    /// Ends the wait, of which so much counts.
    fn leave_wait(&mut self, waited: Duration) {
        self.waited += waited;
        let Some(wait) = self.wait.take() else { return };
        self.note(&wait);
        // The work of the thread for the host during the wait is in the time of the wait.
        if let Some(from) = &mut self.processor_from {
            *from = processor_time().saturating_sub(wait.ran);
        }
    }

    fn note(&mut self, wait: &Wait) {
        let Wait { name, began, .. } = *wait;
        let (after, took) = (began.duration_since(self.started), began.elapsed());
        if let Some(last) = self.calls.last_mut().filter(|last| last.name == name && name == HTTP)
            && after.saturating_sub(last.after + last.took) < POLL_GAP_MAX
        {
            last.took = after + took - last.after;
        } else if self.calls.len() < limits::TRACED_CALLS_MAX {
            self.calls.push(WaitedCall { name, after, took });
        }
    }

    /// The calls of capabilities that the guest waited for, the first ones.
    pub(crate) fn take_calls(&mut self) -> Vec<WaitedCall> {
        std::mem::take(&mut self.calls)
    }

    /// Whether a call that waits must go on waiting at its deadline, as the machine stood still for part of the time.
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_over() && self.started.elapsed() < self.wall_max()
    }

    /// Why the call was interrupted. The limit of wall time is never the guest's fault, however little it lacked.
    pub(crate) fn interruption(&self) -> Interruption {
        let (used, wall) = (self.used(), self.started.elapsed());
        let wait_ended = !self.waited.is_zero() && wall + ROUNDING < self.wall_max();
        let over = used >= self.limit || (wait_ended && used * 100 >= self.limit * WAITED_PERCENT);
        if over && !self.given_up {
            Interruption::TimedOut
        } else {
            Interruption::Starved { used, wall, held_up: self.held_up }
        }
    }

    /// The time that its limit counts.
    pub(crate) fn used(&self) -> Duration {
        let ran = self.wait.as_ref().map_or_else(|| self.ran(), |wait| wait.ran);
        ran + self.waited + self.waiting()
    }

    fn ran(&self) -> Duration {
        self.processor_from.map_or(Duration::ZERO, |from| processor_time().saturating_sub(from))
    }

    fn waiting(&self) -> Duration {
        self.wait.as_ref().map_or(Duration::ZERO, |wait| {
            let now = Instant::now();
            let stalled = self.stalls.until(now).saturating_sub(wait.stalled);
            // An overloaded machine holds up this process and its programs at the same time.
            let held_up = wait.setup + stalled.max(wait.starved);
            now.duration_since(wait.began).saturating_sub(held_up)
        })
    }

    fn wall_max(&self) -> Duration {
        limits::stage_wall_max(self.limit)
    }
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("Linux has this clock").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(100);

    fn clock(started: Instant) -> CallClock {
        CallClock::new(started, LIMIT, Arc::default())
    }

    fn ago(span: Duration) -> Instant {
        Instant::now().checked_sub(span).expect("the machine runs for longer than that")
    }

    fn spin(span: Duration) {
        let from = processor_time();
        while processor_time() - from < span {}
    }

    #[test]
    fn time_without_a_processor_does_not_count() {
        let mut clock = clock(ago(LIMIT * 20));
        assert!(!clock.is_due());
        assert!(!clock.is_over());
        match clock.interruption() {
            Interruption::Starved { used, wall, held_up } => {
                assert!(used < LIMIT && wall >= LIMIT * 20 && held_up.is_zero());
            }
            Interruption::TimedOut => panic!("it did not run"),
        }
    }

    #[test]
    fn processor_time_counts() {
        let mut clock = clock(Instant::now());
        assert!(!clock.is_due());
        spin(LIMIT);
        assert!(clock.is_due());
        assert_eq!(clock.interruption(), Interruption::TimedOut);
    }

    #[test]
    fn a_wait_counts_without_what_the_machine_stood_still() {
        let mut clock = clock(ago(LIMIT * 2));
        let none = Duration::ZERO;
        let began = ago(LIMIT * 2);
        clock.wait =
            Some(Wait { name: HTTP, began, stalled: none, starved: none, setup: none, ran: none });
        assert!(clock.is_over());
        clock.stalls.add(LIMIT * 3 / 2);
        assert!(!clock.is_over());
        assert!(clock.goes_on());
        clock.end_wait();
        clock.wait_for_programs("device.run", |until| {
            let left = until.at.duration_since(Instant::now());
            assert!(left <= LIMIT / 2, "{left:?}");
            ((), HeldUp::default())
        });
    }

    #[test]
    fn a_program_without_a_core_uses_no_time_of_its_guest() {
        let mut clock = clock(ago(LIMIT * 3));
        // More than the time that passed is not possible, but no panic either.
        clock.wait_for_programs("exec.run", |_| ((), HeldUp { starved: LIMIT, setup: LIMIT }));
        assert_eq!(clock.waited, Duration::ZERO);
        let (began, none) = (ago(LIMIT * 2), Duration::ZERO);
        let held_up = LIMIT * 3 / 2;
        for (starved, setup, over) in
            [(held_up, none, false), (none, held_up, false), (none, none, true)]
        {
            clock.begin_wait(HTTP);
            let wait = clock.wait.as_mut().expect("it has begun");
            (wait.began, wait.starved, wait.setup) = (began, starved, setup);
            clock.waited = none;
            assert_eq!(clock.is_over(), over);
            clock.end_wait();
            let timed_out = clock.interruption() == Interruption::TimedOut;
            assert_eq!(timed_out, over);
        }
    }

    #[test]
    fn a_wait_for_assay_itself_is_never_the_guests() {
        let mut clock = clock(Instant::now());
        assert!(!clock.is_due());
        let latest = clock.started + limits::stage_wall_max(LIMIT);
        clock.wait_for_assay("storage.get", |deadline| {
            assert_eq!(deadline, latest, "the guest's own time is not what bounds it");
            spin(LIMIT * 2);
        });
        assert!(clock.used() < LIMIT, "{:?}", clock.used());
        assert!(!clock.is_over());
        match clock.interruption() {
            Interruption::Starved { held_up, .. } => assert!(held_up >= LIMIT * 2, "{held_up:?}"),
            Interruption::TimedOut => panic!("it waited for us"),
        }
    }

    #[test]
    fn what_assay_did_not_give_is_no_timeout_of_a_guest_that_waited_before() {
        let mut clock = clock(ago(LIMIT * 2));
        clock.waited = LIMIT * 95 / 100;
        assert_eq!(clock.interruption(), Interruption::TimedOut);
        clock.give_up();
        assert!(matches!(clock.interruption(), Interruption::Starved { .. }));
    }

    #[test]
    fn work_of_the_host_during_a_wait_counts_once() {
        let mut clock = clock(Instant::now());
        clock.limit = Duration::from_secs(3_600);
        assert!(!clock.is_due());
        spin(LIMIT);
        clock.wait_for_programs("device.run", |_| (spin(LIMIT * 3), HeldUp::default()));
        let (waited, used) = (clock.waited, clock.used());
        assert!(waited >= LIMIT * 3, "{waited:?}");
        // The guest ran for a third of what the host did.
        let ran = used - waited;
        assert!(ran >= LIMIT && ran < LIMIT * 3, "{ran:?} beside {waited:?}");
    }

    #[test]
    fn the_wall_limit_is_no_timeout_of_a_guest_that_lacked_a_little() {
        let nearly = LIMIT * 95 / 100;
        let at_the_wall_limit = ago(limits::stage_wall_max(LIMIT));
        let mut ran = clock(at_the_wall_limit);
        assert!(ran.is_due());
        spin(nearly);
        let mut waited = clock(at_the_wall_limit);
        waited.waited = nearly;
        for clock in [&mut ran, &mut waited] {
            assert!(clock.is_due());
            assert!(matches!(clock.interruption(), Interruption::Starved { .. }));
        }
        let mut ended = clock(ago(LIMIT * 2));
        ended.waited = nearly;
        assert_eq!(ended.interruption(), Interruption::TimedOut);
        let mut computed = clock(ago(LIMIT * 2));
        computed.processor_from = ran.processor_from;
        assert!(matches!(computed.interruption(), Interruption::Starved { .. }));
    }

    #[test]
    fn the_wall_limit_ends_what_never_runs() {
        let wall_max = limits::stage_wall_max(LIMIT);
        let mut clock = clock(ago(wall_max));
        assert!(clock.is_due());
        assert!(!clock.goes_on());
        assert!(matches!(clock.interruption(), Interruption::Starved { .. }));
    }
}
