//! Requests to the executors of a session: their time limits, and the meaning of a failure.

use std::time::{Duration, Instant};

use assay_core::limits::GPU_SIMULATED_STEPS_PER_MS;
use assay_exec::JobDeadline;

use super::process::ExecutorError;
use super::types::{Origin, SessionError};
use super::{GpuSession, RemainingBudget};
use crate::device::DeviceProblem;
use crate::executor::message::{ExecutorAnswer, ExecutorRequest, RunTarget, RunTimes};
use crate::types::PlanStep;

/// The factor by which a simulated plan may be slower than on a common core; beyond it the machine is at fault.
const SIMULATED_SLOWNESS_MAX: u32 = 20;
const SIMULATED_SLACK: Duration = Duration::from_secs(10);
/// The factor by which the judge's code may take longer than a session gives the candidate's: a reference is plain.
pub(super) const JUDGE_SLOWNESS_MAX: u32 = 2;
/// The time between a plan's end and its answer.
const ANSWER_GRACE: Duration = Duration::from_millis(20);

/// The time by which an answer must come, and the error if it does not.
struct AnswerDeadline {
    until: Instant,
    late: SessionError,
}

impl GpuSession {
    /// Fails if the session is over; every call begins with this.
    pub(super) fn alive(&mut self) -> Result<(), SessionError> {
        if let Some(error) = &self.over {
            return Err(error.clone());
        }
        if Instant::now() >= self.deadline {
            return Err(self.end(SessionError::Cancelled));
        }
        Ok(())
    }

    /// Ends the session: all later calls get this error.
    pub(super) fn end(&mut self, error: SessionError) -> SessionError {
        self.candidate = None;
        self.over = Some(error.clone());
        error
    }

    /// The error of an answer of the wrong kind, which is a bug of Assay.
    pub(super) fn unexpected(&mut self, answer: &ExecutorAnswer) -> SessionError {
        self.judge = None;
        self.end(SessionError::Unavailable(format!(
            "an executor answers something else: {answer:.200?}"
        )))
    }

    pub(super) fn tell(
        &mut self,
        origin: Origin,
        order: &ExecutorRequest,
    ) -> Result<ExecutorAnswer, SessionError> {
        self.alive()?;
        let is_judges = origin == Origin::Trusted || !runs_code(order);
        // The judge's work must not make the candidate late.
        let end = if is_judges { self.latest.max(self.deadline) } else { self.deadline };
        let patience = self.patience(origin, order, end);
        let executor = match origin {
            Origin::Candidate => &mut self.candidate,
            Origin::Trusted => &mut self.judge,
        };
        let executor = executor.as_mut().expect("a session that is not over has both");
        let started = Instant::now();
        let answer = executor.order(order, JobDeadline { at: patience.until, latest: self.latest });
        let took = started.elapsed().saturating_sub(executor.held_up());
        let starved = executor.starved();
        let setup = if is_judges { took } else { Duration::ZERO };
        self.held_up.starved += starved;
        self.held_up.setup += setup;
        self.deadline = (self.deadline + starved + setup).min(self.latest.max(self.deadline));
        if runs_code(order) {
            let left = self.left(origin);
            left.time = left.time.saturating_sub(took);
        }
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(ExecutorError::Problem(problem)) => match origin {
                Origin::Candidate => return Err(self.candidate_problem(problem, order)),
                Origin::Trusted => return Err(self.judge_problem(problem, order)),
            },
            Err(ExecutorError::Late) if Instant::now() >= end => SessionError::Cancelled,
            Err(ExecutorError::Late) => patience.late,
            Err(lost @ ExecutorError::Gone(_)) => lost.unavailable(),
        };
        if origin == Origin::Trusted {
            // Nobody waits for its answer any more.
            self.judge = None;
        }
        Err(self.end(error))
    }

    /// The candidate's and the judge's budgets are apart.
    fn left(&mut self, origin: Origin) -> &mut RemainingBudget {
        match origin {
            Origin::Candidate => &mut self.left,
            Origin::Trusted => &mut self.judge_left,
        }
    }

    /// The time by which an answer to this request must come; `end` at the latest.
    fn patience(&self, origin: Origin, order: &ExecutorRequest, end: Instant) -> AnswerDeadline {
        let is_run = matches!(order, ExecutorRequest::Run { .. });
        let plan_ms = self.limits.plan_ms;
        let plan = Duration::from_millis(plan_ms.into());
        let (time, late) = match (self.properties.simulated, origin) {
            (true, _) if is_run => {
                let time = plan * SIMULATED_SLOWNESS_MAX + SIMULATED_SLACK;
                (
                    Some(time),
                    SessionError::Unavailable("this machine simulates far too slowly".into()),
                )
            }
            (false, Origin::Candidate) if !runs_code(order) => {
                let late = SessionError::Unavailable("an executor does not answer".into());
                (Some(Duration::from_millis(self.limits.total_ms.into())), late)
            }
            (false, Origin::Candidate) if !is_run || self.left.time < plan => {
                let late = SessionError::TimedOut(self.limits.total_ms.into());
                (Some(self.left.time + ANSWER_GRACE), late)
            }
            (false, Origin::Candidate) => {
                (Some(plan + ANSWER_GRACE), SessionError::TimedOut(plan_ms.into()))
            }
            (false, Origin::Trusted) if is_run && self.judge_left.time < plan => {
                (Some(self.judge_left.time + ANSWER_GRACE), self.judge_is_slow())
            }
            (false, Origin::Trusted) if is_run => {
                let words = format!("the reference takes more than {plan_ms} ms");
                (Some(plan + ANSWER_GRACE), SessionError::BadRequest(words))
            }
            _ => (None, SessionError::Cancelled),
        };
        let until = time.map_or(end, |time| end.min(Instant::now() + time));
        AnswerDeadline { until, late }
    }

    fn judge_is_slow(&self) -> SessionError {
        let most_ms = u64::from(self.limits.total_ms) * u64::from(JUDGE_SLOWNESS_MAX);
        SessionError::BadRequest(format!("the reference takes more than {most_ms} ms in all"))
    }

    fn candidate_problem(
        &mut self,
        problem: DeviceProblem,
        order: &ExecutorRequest,
    ) -> SessionError {
        let error = match problem {
            DeviceProblem::ImageRejected(words) => return SessionError::ImageRejected(words),
            DeviceProblem::NoSuchKernel(words) => return SessionError::NoSuchKernel(words),
            DeviceProblem::BadArguments(words) => return SessionError::BadArguments(words),
            DeviceProblem::InvalidLaunch(words) => return SessionError::InvalidLaunch(words),
            DeviceProblem::Unsupported(words) => return SessionError::Unsupported(words),
            // The two sides now have different buffers, so the session cannot continue.
            DeviceProblem::Limit(words) if matches!(order, ExecutorRequest::Alloc(_)) => {
                SessionError::Limit(words)
            }
            // Memory that the judge lacks to fill buffers or to hand them over is no limit of the candidate's.
            DeviceProblem::Limit(words) if !runs_code(order) => SessionError::Unavailable(words),
            DeviceProblem::Limit(words) => return SessionError::Limit(words),
            DeviceProblem::IllegalAddress(words) => SessionError::IllegalAddress(words),
            DeviceProblem::MisalignedAddress(words) => SessionError::MisalignedAddress(words),
            DeviceProblem::IllegalInstruction(words) => SessionError::IllegalInstruction(words),
            DeviceProblem::Trapped(words) => SessionError::Trapped(words),
            DeviceProblem::LaunchFailed(words) => SessionError::LaunchFailed(words),
            DeviceProblem::TimedOut => SessionError::TimedOut(match order {
                ExecutorRequest::Run { steps, .. } if *steps < self.plan_steps() => {
                    self.limits.total_ms.into()
                }
                _ => self.limits.plan_ms.into(),
            }),
            DeviceProblem::Failed(words) => SessionError::Unavailable(words),
        };
        self.end(error)
    }

    /// The error of a problem on the judge's side, where the task's own code runs.
    fn judge_problem(&mut self, problem: DeviceProblem, order: &ExecutorRequest) -> SessionError {
        let error = match &problem {
            DeviceProblem::Failed(words) => SessionError::Unavailable(words.clone()),
            // The candidate's side has these buffers already: the device has no room for both.
            DeviceProblem::Limit(words) if matches!(order, ExecutorRequest::Alloc(_)) => {
                SessionError::Limit(words.clone())
            }
            DeviceProblem::Limit(words) if !runs_code(order) => {
                SessionError::Unavailable(words.clone())
            }
            DeviceProblem::TimedOut if self.judge_left.steps < self.plan_steps() => {
                self.judge_is_slow()
            }
            _ => SessionError::BadRequest(format!("the reference: {problem}")),
        };
        let goes_on = matches!(
            problem,
            DeviceProblem::ImageRejected(_)
                | DeviceProblem::NoSuchKernel(_)
                | DeviceProblem::BadArguments(_)
                | DeviceProblem::InvalidLaunch(_)
                | DeviceProblem::Unsupported(_)
                | DeviceProblem::Limit(_)
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

    pub(super) fn done(
        &mut self,
        origin: Origin,
        order: &ExecutorRequest,
    ) -> Result<(), SessionError> {
        match self.tell(origin, order)? {
            ExecutorAnswer::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    pub(super) fn plan(&mut self, origin: Origin, plan: Vec<PlanStep>) -> Result<(), SessionError> {
        self.done(origin, &ExecutorRequest::Plan(plan))
    }

    /// Runs what was planned, or nothing, on one side.
    pub(super) fn ran(
        &mut self,
        origin: Origin,
        what: RunTarget,
        flush: bool,
    ) -> Result<RunTimes, SessionError> {
        let steps = self.plan_steps().min(self.left(origin).steps);
        match self.tell(origin, &ExecutorRequest::Run { what, flush, steps })? {
            ExecutorAnswer::Ran(ran) => {
                if self.properties.simulated {
                    self.left(origin).steps -= steps.saturating_sub(ran.steps_left);
                }
                Ok(ran)
            }
            other => Err(self.unexpected(&other)),
        }
    }

    /// The wall time of a run as the host measured it; 0 if it is simulated, so that no reward depends on it.
    pub(super) fn elapsed_ns(&self, ran: &RunTimes) -> u64 {
        if self.properties.simulated { 0 } else { ran.wall_ns }
    }
}

/// Whether the code of the executor's side is loaded or runs. Everything else is the judge's work, on both sides: it makes, fills
/// and hands over buffers, in a time that depends on the task.
fn runs_code(order: &ExecutorRequest) -> bool {
    matches!(order, ExecutorRequest::Load(_) | ExecutorRequest::Run { .. })
}

impl ExecutorError {
    pub(super) fn unavailable(self) -> SessionError {
        SessionError::Unavailable(match self {
            Self::Problem(problem) => problem.to_string(),
            Self::Late => "an executor does not answer".into(),
            Self::Gone(words) => words,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judges_work_costs_the_candidate_no_time() {
        let run = ExecutorRequest::Run { what: RunTarget::Plan, flush: false, steps: 1 };
        for order in [run, ExecutorRequest::Load(serde_bytes::ByteBuf::new())] {
            assert!(runs_code(&order), "{order:?}");
        }
        let others = [
            ExecutorRequest::Alloc(Vec::new()),
            ExecutorRequest::Prepare { seed: 1 },
            ExecutorRequest::Export { share: true },
        ];
        assert!(!others.iter().any(runs_code));
    }
}
