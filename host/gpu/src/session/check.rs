//! Checks: the candidate's side runs first and hands over all that it left; the judge's side makes the
//! same inputs, looks at what was changed, runs the reference and compares.

use super::GpuSession;
use super::request::check_seeds;
use super::types::{CheckReport, Origin, SessionError};
use crate::device::Pair;
use crate::executor::message::{
    ExecutorAnswer, ExecutorRequest, RunTarget, RunTimes, SharedBuffer,
};
use crate::types::PlanStep;

impl GpuSession {
    /// Runs both plans for each seed and compares their outputs.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn check(
        &mut self,
        candidate: &[PlanStep],
        reference: &[PlanStep],
        pairs: &[Pair],
        seeds: &[u64],
    ) -> Result<Vec<CheckReport>, SessionError> {
        self.alive()?;
        check_seeds(seeds)?;
        self.agree(candidate, reference, pairs)?;
        let mut reports = Vec::with_capacity(seeds.len());
        for seed in seeds {
            self.done(Origin::Candidate, &ExecutorRequest::Prepare { seed: *seed })?;
            let ran = self.ran(Origin::Candidate, RunTarget::Plan, false)?;
            let mut left = self.exported()?;
            self.done(Origin::Trusted, &ExecutorRequest::Prepare { seed: *seed })?;
            let inspected = self.inspected(&mut left)?;
            self.ran(Origin::Trusted, RunTarget::Plan, false)?;
            reports.push(self.compared(*seed, pairs, &mut left, inspected, &ran)?);
        }
        Ok(reports)
    }

    /// Tells both sides their plans.
    pub(super) fn agree(
        &mut self,
        candidate: &[PlanStep],
        reference: &[PlanStep],
        pairs: &[Pair],
    ) -> Result<(), SessionError> {
        self.made.check_pairs(pairs)?;
        let candidate = self.made.plan(candidate, Origin::Candidate, self.limits.steps_max)?;
        let reference = self.made.plan(reference, Origin::Trusted, self.limits.steps_max);
        let reference = reference
            .map_err(|error| SessionError::BadRequest(format!("the reference: {error}")))?;
        self.plan(Origin::Candidate, candidate)?;
        self.plan(Origin::Trusted, reference)
    }

    /// Hands over what the candidate left: to the exchange, but for the buffers that are given back, which the judge reads
    /// where they are.
    pub(super) fn exported(&mut self) -> Result<Vec<SharedBuffer>, SessionError> {
        let share = !self.gpu.state().sharing_failed;
        match self.tell(Origin::Candidate, &ExecutorRequest::Export { share })? {
            ExecutorAnswer::Exported(shared) => Ok(shared),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Asks the judge about what the candidate left. Where processes cannot share memory of the GPU, as in some containers,
    /// all of it goes through the exchange, now and later.
    fn judged(
        &mut self,
        left: &mut Vec<SharedBuffer>,
        request: impl Fn(Vec<SharedBuffer>) -> ExecutorRequest,
    ) -> Result<ExecutorAnswer, SessionError> {
        let answer = self.tell(Origin::Trusted, &request(left.clone()))?;
        let ExecutorAnswer::NotShared(reason) = answer else { return Ok(answer) };
        tracing::warn!(reason, "buffers go through the memory of this machine");
        self.gpu.state().sharing_failed = true;
        *left = self.exported()?;
        self.tell(Origin::Trusted, &request(left.clone()))
    }

    /// The forbidden changes that the candidate made: to inputs, and to the guards of buffers. The judge is asked before
    /// the reference runs, which could change the judge's buffers in the same way.
    pub(super) fn inspected(
        &mut self,
        left: &mut Vec<SharedBuffer>,
    ) -> Result<Inspected, SessionError> {
        match self.judged(left, |shared| ExecutorRequest::Inspect { shared })? {
            ExecutorAnswer::Inspected { inputs_changed, overrun } => {
                Ok(Inspected { inputs_changed, overrun })
            }
            other => Err(self.unexpected(&other)),
        }
    }

    pub(super) fn compared(
        &mut self,
        seed: u64,
        pairs: &[Pair],
        left: &mut Vec<SharedBuffer>,
        inspected: Inspected,
        ran: &RunTimes,
    ) -> Result<CheckReport, SessionError> {
        let Inspected { inputs_changed, overrun } = inspected;
        let elapsed_ns = self.elapsed_ns(ran);
        let compare = |shared| ExecutorRequest::Compare { pairs: pairs.to_vec(), shared };
        match self.judged(left, compare)? {
            ExecutorAnswer::Compared(outputs) if outputs.len() == pairs.len() => {
                Ok(CheckReport { seed, outputs, inputs_changed, overrun, elapsed_ns })
            }
            other => Err(self.unexpected(&other)),
        }
    }
}

#[derive(Debug)]
pub(super) struct Inspected {
    inputs_changed: Vec<u32>,
    overrun: Vec<u32>,
}
