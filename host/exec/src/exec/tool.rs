//! Runs a tool of the host's own, such as the compiler of another capability.

use super::inputs::with_room;
use super::rerun::{self, Certainty};
use super::{Exec, ExecError, JobContext, RunOutcome};
use crate::job::{BoxJob, JobEnd};
use crate::limits::BoxLimits;

impl Exec {
    /// Runs one job in a box. Its limits are kept within [`BoxLimits::CEILING`], plus the space for its files.
    /// A run that a busy machine disturbed is repeated once.
    pub fn run_tool(
        &mut self,
        caller: &JobContext,
        job: &BoxJob<'_>,
    ) -> Result<RunOutcome, ExecError> {
        let limits = job.limits.within(&BoxLimits::CEILING);
        let limits = with_room(limits, job.files.iter().map(|file| file.bytes.len()))?;
        let job = BoxJob { limits, ..job.clone() };
        let look = |ended: &JobEnd| match rerun::look(ended, &job.limits) {
            Certainty::Disturbed => Certainty::Disturbed,
            Certainty::NearLimit | Certainty::Certain => Certainty::Certain,
        };
        let run = || self.run_job(&job, caller);
        let (ended, _) = rerun::settle(run, look, rerun::better)?;
        Ok(self.outcome(ended))
    }
}
