//! The helper's life: started at first use, and once more when it died over a job.
//!
//! ```text
//!   idle ── start ──> running ── died ──> idle
//!     └── refused ──> refused ── some seconds ──> idle
//! ```

use std::time::{Duration, Instant};

use assay_model::limits::EXEC_REFUSED_SECONDS;

use super::Error;
use crate::helper::Lost;

pub(super) struct Life<H> {
    state: State<H>,
}

enum State<H> {
    Idle,
    Running(H),
    Refused { reason: String, until: Instant },
}

impl<H> Default for Life<H> {
    fn default() -> Self {
        Self { state: State::Idle }
    }
}

impl<H> Life<H> {
    /// Has a helper do a job; a job over which it died is tried once more with a new one.
    pub fn with<T>(
        &mut self,
        start: impl Fn() -> Result<H, Lost>,
        mut job: impl FnMut(&mut H) -> Result<T, Lost>,
    ) -> Result<T, Error> {
        let mut reason = String::new();
        for _ in 0..2 {
            match self.running(&start)?.and_then(&mut job) {
                Ok(done) => return Ok(done),
                Err(Lost::Deadline) => return Err(Error::Cancelled),
                Err(Lost::Refused(refusal)) => return Err(self.refuse(refusal)),
                Err(Lost::Failed(failure)) => {
                    tracing::warn!(error = %failure, "the helper that runs programs failed");
                    self.state = State::Idle;
                    reason = failure;
                }
            }
        }
        Err(Error::Unavailable(reason))
    }

    fn running(
        &mut self,
        start: impl Fn() -> Result<H, Lost>,
    ) -> Result<Result<&mut H, Lost>, Error> {
        if let State::Refused { reason, until } = &self.state
            && Instant::now() < *until
        {
            return Err(Error::Unavailable(reason.clone()));
        }
        if !matches!(self.state, State::Running(_)) {
            match start() {
                Ok(helper) => self.state = State::Running(helper),
                Err(lost) => return Ok(Err(lost)),
            }
        }
        match &mut self.state {
            State::Running(helper) => Ok(Ok(helper)),
            _ => unreachable!("it was just started"),
        }
    }

    fn refuse(&mut self, reason: String) -> Error {
        let until = Instant::now() + Duration::from_secs(EXEC_REFUSED_SECONDS);
        tracing::error!(%reason, "programs cannot be run on this machine");
        self.state = State::Refused { reason: reason.clone(), until };
        Error::Unavailable(reason)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A life, the number of its starts, and what becomes of the job at each try.
    fn check(tries: &[Result<u32, Lost>], expected: Result<u32, Error>, starts: u32) {
        let mut life = Life::default();
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
                    Err(Lost::Deadline) => Err(Lost::Deadline),
                    Err(Lost::Refused(text)) => Err(Lost::Refused(text.clone())),
                    Err(Lost::Failed(text)) => Err(Lost::Failed(text.clone())),
                }
            },
        );
        assert_eq!(got, expected);
        assert_eq!((tried.get(), started.get()), (tries.len(), starts));
    }

    #[test]
    fn a_job_is_tried_once_more_with_a_new_helper() {
        let failed = || Err(Lost::Failed("died".into()));
        check(&[Ok(7)], Ok(7), 1);
        check(&[failed(), Ok(7)], Ok(7), 2);
        check(&[failed(), failed()], Err(Error::Unavailable("died".into())), 2);
        check(&[failed(), Err(Lost::Deadline)], Err(Error::Cancelled), 2);
        check(&[Err(Lost::Deadline)], Err(Error::Cancelled), 1);
        check(&[Err(Lost::Refused("no".into()))], Err(Error::Unavailable("no".into())), 1);
    }

    #[test]
    fn a_helper_lives_on_after_a_deadline() {
        let mut life = Life::default();
        let starts = Cell::new(0);
        let start = || {
            starts.set(starts.get() + 1);
            Ok(())
        };
        let late = life.with(start, |()| Err::<(), _>(Lost::Deadline));
        assert_eq!((late, life.with(start, |()| Ok(3))), (Err(Error::Cancelled), Ok(3)));
        assert_eq!(starts.get(), 1);
    }

    #[test]
    fn a_refusal_is_remembered_for_a_while() {
        let mut life = Life::<u32>::default();
        let starts = Cell::new(0);
        let start = || {
            starts.set(starts.get() + 1);
            Err(Lost::Refused("no cgroups".into()))
        };
        for _ in 0..3 {
            let got = life.with(start, |_| Ok(()));
            assert_eq!(got, Err(Error::Unavailable("no cgroups".into())));
        }
        assert_eq!(starts.get(), 1);
        let State::Refused { until, .. } = &mut life.state else { panic!("refused") };
        *until = Instant::now();
        assert_eq!(life.with(|| Ok(5), |helper| Ok(*helper)), Ok(5));
    }

    #[test]
    fn a_start_that_fails_is_tried_once_more() {
        let mut life = Life::default();
        let starts = Cell::new(0);
        let got = life.with(
            || match starts.replace(starts.get() + 1) {
                0 => Err(Lost::Failed("slow".into())),
                _ => Ok(5),
            },
            |helper| Ok(*helper),
        );
        assert_eq!((got, starts.get()), (Ok(5), 2));
    }
}
