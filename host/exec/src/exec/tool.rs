//! Runs a tool of the host's own, such as the compiler of another capability.

use super::inputs::with_room;
use super::{Exec, ExecError, JobContext, RunOutcome};
use crate::job::BoxJob;
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
        let ended = self.run_undisturbed(&job, caller)?;
        Ok(self.outcome(ended))
    }
}
