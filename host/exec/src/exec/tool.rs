//! Runs a tool that the host itself brings, such as a compiler of another capability.

use super::again::{self, Look};
use super::place::with_room;
use super::{Caller, Error, Exec, Outcome};
use crate::job::{Ended, Job};
use crate::limits::Limits;

impl Exec {
    /// One job in a box; its limits are kept within the ceiling, and its files come on top of them. What
    /// a busy machine disturbed is run again, once.
    pub fn run_tool(&mut self, caller: &Caller, job: &Job<'_>) -> Result<Outcome, Error> {
        let limits = job.limits.within(&Limits::CEILING);
        let limits = with_room(limits, job.files.iter().map(|file| file.bytes.len()))?;
        let job = Job { limits, ..job.clone() };
        let look = |ended: &Ended| match again::look(ended, &job.limits) {
            Look::Disturbed => Look::Disturbed,
            Look::NearLimit | Look::Certain => Look::Certain,
        };
        let run = || self.run_job(&job, caller.deadline);
        let (ended, _) = again::settle(run, look, again::better)?;
        Ok(self.outcome(ended))
    }
}
