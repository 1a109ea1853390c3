//! The helper's life cycle: it is started at its first use, and once more if it dies during a job.
//!
//! ```text
//!   idle ── start ──> running ── died ──> idle
//!     └── refused ──> refused ── some seconds ──> idle
//! ```

use std::time::{Duration, Instant};

use assay_core::limits::EXEC_REFUSED_SECONDS;

use super::ExecError;
use crate::helper::HelperError;
use crate::support::Refusal;

pub(super) struct HelperLife<H> {
    state: HelperState<H>,
}

enum HelperState<H> {
    Idle,
    Running(H),
    Refused { refusal: Refusal, until: Instant },
}

impl<H> Default for HelperLife<H> {
    fn default() -> Self {
        Self { state: HelperState::Idle }
    }
}

impl<H> HelperLife<H> {
    /// The part that the machine lacked for boxes at the last start; `None` if it lacked nothing or has not started.
    pub fn lacking(&self) -> Option<&str> {
        match &self.state {
            HelperState::Refused { refusal: Refusal::Lacking(what), .. } => Some(what),
            _ => None,
        }
    }

    /// Ends the running helper if it cannot be used again; the next job starts another.
    pub fn end_if(&mut self, is_unfit: impl FnOnce(&mut H) -> bool) {
        if let HelperState::Running(helper) = &mut self.state
            && is_unfit(helper)
        {
            tracing::warn!(
                "a process of the helper that runs programs was killed; ending the rest of it"
            );
            self.state = HelperState::Idle;
        }
    }

    /// Gives the helper a job. If the helper dies during the job, the job is tried once more with a new one.
    pub fn with<T>(
        &mut self,
        start: impl Fn() -> Result<H, HelperError>,
        mut job: impl FnMut(&mut H) -> Result<T, HelperError>,
    ) -> Result<T, ExecError> {
        let mut reason = String::new();
        for _ in 0..2 {
            match self.running(&start)?.and_then(&mut job) {
                Ok(done) => return Ok(done),
                Err(HelperError::Deadline) => return Err(ExecError::Cancelled),
                Err(HelperError::Refused(refusal)) => return Err(self.refuse(refusal)),
                // Another helper would not find it either.
                Err(lost @ HelperError::NoProgram(_)) => {
                    return Err(ExecError::Unavailable(lost.to_string()));
                }
                Err(HelperError::Failed(failure)) => {
                    tracing::warn!(error = %failure, "the helper that runs programs failed");
                    self.state = HelperState::Idle;
                    reason = failure;
                }
            }
        }
        Err(ExecError::Unavailable(reason))
    }

    fn running(
        &mut self,
        start: impl Fn() -> Result<H, HelperError>,
    ) -> Result<Result<&mut H, HelperError>, ExecError> {
        if let HelperState::Refused { refusal, until } = &self.state
            && Instant::now() < *until
        {
            return Err(ExecError::Unavailable(refusal.to_string()));
        }
        if !matches!(self.state, HelperState::Running(_)) {
            match start() {
                Ok(helper) => self.state = HelperState::Running(helper),
                Err(lost) => return Ok(Err(lost)),
            }
        }
        match &mut self.state {
            HelperState::Running(helper) => Ok(Ok(helper)),
            _ => unreachable!("it was just started"),
        }
    }

    fn refuse(&mut self, refusal: Refusal) -> ExecError {
        let until = Instant::now() + Duration::from_secs(EXEC_REFUSED_SECONDS);
        tracing::error!(reason = %refusal, "programs cannot be run on this machine");
        let reason = refusal.to_string();
        self.state = HelperState::Refused { refusal, until };
        ExecError::Unavailable(reason)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A life, the number of its starts, and what becomes of the job at each try.
    fn check(tries: &[Result<u32, HelperError>], expected: Result<u32, ExecError>, starts: u32) {
        let mut life = HelperLife::default();
        let (started, tried) = (Cell::new(0), Cell::new(0));
        let got = life.with(
            || {
                started.set(started.get() + 1);
                Ok(started.get())
            },
            |helper| {
                assert_eq!(*helper, started.get(), "the newest helper");
                let place = tried.replace(tried.get() + 1);
                match &tries[place] {
                    Ok(number) => Ok(*number),
                    Err(HelperError::Deadline) => Err(HelperError::Deadline),
                    Err(HelperError::Refused(text)) => Err(HelperError::Refused(text.clone())),
                    Err(HelperError::NoProgram(text)) => Err(HelperError::NoProgram(text.clone())),
                    Err(HelperError::Failed(text)) => Err(HelperError::Failed(text.clone())),
                }
            },
        );
        assert_eq!(got, expected);
        assert_eq!((tried.get(), started.get()), (tries.len(), starts));
    }

    #[test]
    fn a_job_is_tried_once_more_with_a_new_helper() {
        let failed = || Err(HelperError::Failed("died".into()));
        check(&[Ok(7)], Ok(7), 1);
        check(&[failed(), Ok(7)], Ok(7), 2);
        check(&[failed(), failed()], Err(ExecError::Unavailable("died".into())), 2);
        check(&[failed(), Err(HelperError::Deadline)], Err(ExecError::Cancelled), 2);
        check(&[Err(HelperError::Deadline)], Err(ExecError::Cancelled), 1);
        check(
            &[Err(HelperError::NoProgram("gcc".into()))],
            Err(ExecError::Unavailable("a program cannot be executed: gcc".into())),
            1,
        );
        check(
            &[Err(HelperError::Refused(Refusal::Lacking("no".into())))],
            Err(ExecError::Unavailable("no".into())),
            1,
        );
    }

    #[test]
    fn a_helper_lives_on_after_a_deadline() {
        let mut life = HelperLife::default();
        let starts = Cell::new(0);
        let start = || {
            starts.set(starts.get() + 1);
            Ok(())
        };
        let late = life.with(start, |()| Err::<(), _>(HelperError::Deadline));
        assert_eq!((late, life.with(start, |()| Ok(3))), (Err(ExecError::Cancelled), Ok(3)));
        assert_eq!(starts.get(), 1);
    }

    #[test]
    fn a_helper_that_is_unfit_is_ended_and_replaced() {
        let mut life = HelperLife::default();
        let starts = Cell::new(0);
        let start = || Ok(starts.replace(starts.get() + 1));
        life.end_if(|_: &mut u32| panic!("none runs"));
        assert_eq!(life.with(start, |helper| Ok(*helper)), Ok(0));
        life.end_if(|_| false);
        assert_eq!(life.with(start, |helper| Ok(*helper)), Ok(0));
        life.end_if(|_| true);
        assert_eq!(life.with(start, |helper| Ok(*helper)), Ok(1));
    }

    #[test]
    fn a_refusal_is_remembered_for_a_while() {
        let mut life = HelperLife::<u32>::default();
        let starts = Cell::new(0);
        let start = || {
            starts.set(starts.get() + 1);
            Err(HelperError::Refused(Refusal::Lacking("no cgroups".into())))
        };
        assert_eq!(life.lacking(), None);
        for _ in 0..3 {
            let got = life.with(start, |_| Ok(()));
            assert_eq!(got, Err(ExecError::Unavailable("no cgroups".into())));
            assert_eq!(life.lacking(), Some("no cgroups"));
        }
        assert_eq!(starts.get(), 1);
        let HelperState::Refused { until, .. } = &mut life.state else { panic!("refused") };
        *until = Instant::now();
        assert_eq!(life.with(|| Ok(5), |helper| Ok(*helper)), Ok(5));
        assert_eq!(life.lacking(), None);
    }

    #[test]
    fn a_failure_does_not_say_that_the_machine_lacks_anything() {
        for failure in [
            || HelperError::Refused(Refusal::Failed("no memory".into())),
            || HelperError::Failed("died".into()),
        ] {
            let mut life = HelperLife::<u32>::default();
            assert!(life.with(|| Err(failure()), |_| Ok(())).is_err());
            assert_eq!(life.lacking(), None);
        }
    }

    #[test]
    fn a_start_that_fails_is_tried_once_more() {
        let mut life = HelperLife::default();
        let starts = Cell::new(0);
        let got = life.with(
            || match starts.replace(starts.get() + 1) {
                0 => Err(HelperError::Failed("slow".into())),
                _ => Ok(5),
            },
            |helper| Ok(*helper),
        );
        assert_eq!((got, starts.get()), (Ok(5), 2));
    }
}
