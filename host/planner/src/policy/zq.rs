//! The policy `zq`: the paper's baseline ZQ-Dedicated.

use std::sync::Arc;

use super::{Algorithm, Policy};
use crate::basis::Basis;
use crate::decision::{Decision, PoolTask};
use crate::problem::Problem;
use crate::reason::Reason;
use crate::search::Search;
use crate::tuning::Tuning;

impl Policy {
    /// Each run gets the workers that its last batch would have used without queueing.
    pub const ZQ: Self = Self {
        name: "zq",
        summary: "As many as the run's last batch would have used without waiting",
        algorithm: &Zq,
    };
}

struct Zq;

impl Algorithm for Zq {
    fn tuning(&self) -> Tuning {
        Tuning::PUBLISHED
    }

    fn allocate(&self, search: &mut Search<'_>, task: &PoolTask<'_>) -> Decision {
        zero_queue_decision(search.simulator.problem, task.bases, task.place.pool)
    }

    fn has_pools_by_run(&self) -> bool {
        true
    }
}

/// ZQ-Dedicated: for each live batch as many as the last one of its run used at most.
fn zero_queue_decision(problem: &Problem, bases: &[Arc<Basis>], pool: usize) -> Decision {
    let peak = |(batch, basis): (usize, &Arc<Basis>)| {
        basis.zero_queue_peak(&problem.flows[problem.batches[batch].flow], pool)
    };
    let workers = bases.iter().enumerate().map(peak).sum();
    let reason = if workers == 0 { Reason::Idle } else { Reason::Policy };
    Decision { hold: workers, ceiling: workers, zero_queue: workers, reason }
}
