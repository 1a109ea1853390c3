//! What the executors of a session are told, how long they may take, and what it means when they do not
//! do it.

use std::time::{Duration, Instant};

use assay_model::limits::GPU_SIMULATED_STEPS_PER_MS;

use super::Session;
use super::process::Lost;
use super::types::{Error, Origin};
use crate::device::Problem;
use crate::executor::message::{Answer, Order, Ran, What};
use crate::types::Step;

/// How much longer than on a common core a simulated plan may take: then it is the machine's fault.
const SIMULATED_SLOWNESS_MAX: u32 = 20;
const SIMULATED_SLACK: Duration = Duration::from_secs(10);
/// Between a plan's end and its answer.
const ANSWER_GRACE: Duration = Duration::from_millis(20);

/// Until when an answer is waited for, and what is wrong if it does not come.
struct Patience {
    until: Instant,
    late: Error,
}

impl Session {
    /// Every call begins with this.
    pub(super) fn alive(&mut self) -> Result<(), Error> {
        if let Some(error) = &self.over {
            return Err(error.clone());
        }
        if Instant::now() >= self.deadline {
            return Err(self.end(Error::Cancelled));
        }
        Ok(())
    }

    /// From here on there is only this error.
    pub(super) fn end(&mut self, error: Error) -> Error {
        self.candidate = None;
        self.over = Some(error.clone());
        error
    }

    /// An answer of another kind than was asked for: a bug of ours.
    pub(super) fn unexpected(&mut self, answer: &Answer) -> Error {
        self.judge = None;
        self.end(Error::Unavailable(format!("an executor answers something else: {answer:.200?}")))
    }

    pub(super) fn tell(&mut self, origin: Origin, order: &Order) -> Result<Answer, Error> {
        self.alive()?;
        let patience = self.patience(origin, order);
        let executor = match origin {
            Origin::Candidate => &mut self.candidate,
            Origin::Trusted => &mut self.judge,
        };
        let executor = executor.as_mut().expect("a session that is not over has both");
        let started = Instant::now();
        let answer = executor.order(order, patience.until);
        if origin == Origin::Candidate {
            self.left.time = self.left.time.saturating_sub(started.elapsed());
        }
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(Lost::Problem(problem)) => match origin {
                Origin::Candidate => return Err(self.candidate_problem(problem, order)),
                Origin::Trusted => return Err(self.judge_problem(&problem)),
            },
            Err(Lost::Late) if Instant::now() >= self.deadline => Error::Cancelled,
            Err(Lost::Late) => patience.late,
            Err(lost @ Lost::Gone(_)) => lost.unavailable(),
        };
        if origin == Origin::Trusted {
            // Whatever it does now is for nobody.
            self.judge = None;
        }
        Err(self.end(error))
    }

    fn patience(&self, origin: Origin, order: &Order) -> Patience {
        let is_run = matches!(order, Order::Run { .. });
        let plan_ms = self.limits.plan_ms;
        let plan = Duration::from_millis(plan_ms.into());
        let (time, late) = match (self.properties.simulated, origin) {
            (true, _) if is_run => {
                let time = plan * SIMULATED_SLOWNESS_MAX + SIMULATED_SLACK;
                (Some(time), Error::Unavailable("this machine simulates far too slowly".into()))
            }
            (false, Origin::Candidate) if !is_run || self.left.time < plan => {
                let late = Error::TimedOut(self.limits.total_ms.into());
                (Some(self.left.time + ANSWER_GRACE), late)
            }
            (false, Origin::Candidate) => {
                (Some(plan + ANSWER_GRACE), Error::TimedOut(plan_ms.into()))
            }
            (false, Origin::Trusted) if is_run => {
                let words = format!("the reference takes more than {plan_ms} ms");
                (Some(plan + ANSWER_GRACE), Error::BadRequest(words))
            }
            _ => (None, Error::Cancelled),
        };
        let until = time.map_or(self.deadline, |time| self.deadline.min(Instant::now() + time));
        Patience { until, late }
    }

    fn candidate_problem(&mut self, problem: Problem, order: &Order) -> Error {
        let error = match problem {
            Problem::ImageRejected(words) => return Error::ImageRejected(words),
            Problem::NoSuchKernel(words) => return Error::NoSuchKernel(words),
            Problem::BadArguments(words) => return Error::BadArguments(words),
            Problem::InvalidLaunch(words) => return Error::InvalidLaunch(words),
            Problem::Unsupported(words) => return Error::Unsupported(words),
            // With some of one side's buffers made and none of the other's, nothing can go on.
            Problem::Limit(words) if matches!(order, Order::Alloc(_)) => Error::Limit(words),
            Problem::Limit(words) => return Error::Limit(words),
            Problem::IllegalAddress(words) => Error::IllegalAddress(words),
            Problem::MisalignedAddress(words) => Error::MisalignedAddress(words),
            Problem::IllegalInstruction(words) => Error::IllegalInstruction(words),
            Problem::Trapped(words) => Error::Trapped(words),
            Problem::LaunchFailed(words) => Error::LaunchFailed(words),
            Problem::TimedOut => Error::TimedOut(match order {
                Order::Run { steps, .. } if *steps < self.plan_steps() => {
                    self.limits.total_ms.into()
                }
                _ => self.limits.plan_ms.into(),
            }),
            Problem::Failed(words) => Error::Unavailable(words),
        };
        self.end(error)
    }

    /// What runs there is the task's own.
    fn judge_problem(&mut self, problem: &Problem) -> Error {
        let error = match problem {
            Problem::Failed(words) => Error::Unavailable(words.clone()),
            _ => Error::BadRequest(format!("the reference: {problem}")),
        };
        let goes_on = matches!(
            problem,
            Problem::ImageRejected(_)
                | Problem::NoSuchKernel(_)
                | Problem::BadArguments(_)
                | Problem::InvalidLaunch(_)
                | Problem::Unsupported(_)
                | Problem::Limit(_)
        );
        if goes_on {
            return error;
        }
        self.judge = None;
        self.end(error)
    }

    fn plan_steps(&self) -> u64 {
        u64::from(self.limits.plan_ms) * GPU_SIMULATED_STEPS_PER_MS
    }

    pub(super) fn done(&mut self, origin: Origin, order: &Order) -> Result<(), Error> {
        match self.tell(origin, order)? {
            Answer::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    pub(super) fn plan(&mut self, origin: Origin, plan: Vec<Step>) -> Result<(), Error> {
        self.done(origin, &Order::Plan(plan))
    }

    /// Runs what was planned, or nothing, on one side.
    pub(super) fn ran(&mut self, origin: Origin, what: What, flush: bool) -> Result<Ran, Error> {
        let steps = match origin {
            Origin::Candidate => self.plan_steps().min(self.left.steps),
            Origin::Trusted => self.plan_steps(),
        };
        match self.tell(origin, &Order::Run { what, flush, steps })? {
            Answer::Ran(ran) => {
                if origin == Origin::Candidate && self.properties.simulated {
                    self.left.steps -= steps.saturating_sub(ran.steps_left);
                }
                Ok(ran)
            }
            other => Err(self.unexpected(&other)),
        }
    }

    /// What the host saw of a run, for whoever must not depend on it: nothing where it is simulated.
    pub(super) fn elapsed_ns(&self, ran: &Ran) -> u64 {
        if self.properties.simulated { 0 } else { ran.wall_ns }
    }
}

impl Lost {
    pub(super) fn unavailable(self) -> Error {
        Error::Unavailable(match self {
            Self::Problem(problem) => problem.to_string(),
            Self::Late => "an executor does not answer".into(),
            Self::Gone(words) => words,
        })
    }
}
