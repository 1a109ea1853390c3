//! Runs a program against tests and says how each went.
//!
//! A verdict is the program's; whatever else fails (a box, a checker, the test code) is an error.

mod dialogue;
mod function;
mod programs;
mod whole;

use assay_plugin::exec;

use crate::verdict::Failure;
pub(crate) use function::judge_function;
pub(crate) use whole::ProgramUnderTest;

/// How one test went.
pub(crate) struct TestResult {
    pub(crate) failure: Option<Failure>,
    pub(crate) usage: exec::Usage,
    /// The time of its checker or interactor.
    pub(crate) judge_us: u64,
    pub(crate) weakened: Vec<String>,
}

impl TestResult {
    fn new(outcome: exec::Outcome, failure: Option<Failure>) -> Self {
        Self { failure, usage: outcome.usage, judge_us: 0, weakened: outcome.weakened }
    }
}

/// The time that a program took. Waiting for a processor is the machine's fault, not the program's.
pub(crate) fn own_us(usage: &exec::Usage) -> u64 {
    usage.wall_us.saturating_sub(usage.wait_us).max(usage.cpu_us)
}
