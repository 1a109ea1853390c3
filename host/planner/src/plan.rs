//! A plan, and the report that explains each number in it.

use std::sync::Arc;

use assay_core::id::BatchId;
use assay_core::time::Micros;
use assay_sched::PoolPlan;

use crate::policy::Policy;

/// The workers of each pool until the next plan, and the report that explains them.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub pools: Vec<PoolPlan>,
    /// The time of the next plan, if no event calls for one earlier.
    pub again: Option<Micros>,
    pub report: PlanReport,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlanReport {
    pub at: Micros,
    pub policy: Policy,
    pub pools: Vec<PoolReport>,
    /// Requests in SIMULATE, and how often it ran.
    pub requests: usize,
    pub simulations: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PoolReport {
    pub pool: Arc<str>,
    pub hold: usize,
    pub ceiling: usize,
    /// The workers with which no request would queue.
    pub zero_queue: usize,
    pub reason: Reason,
}

/// Why a pool's ceiling is what it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// No live batch needs the pool.
    Idle,
    /// The policy asks for exactly this many.
    Policy,
    /// The configured minimum.
    Minimum,
    /// The quota, the pool's or its tenants': it would take `wanted`.
    Maximum { wanted: usize },
    /// A live batch has no history, its own or another's: it starts with few and grows.
    Unknown,
    /// One worker, the least while a live batch needs the pool.
    Needed,
    /// One worker less would break the rule in this way.
    Bound(Bound),
}

/// The first violation with one worker less.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub batch: BatchId,
    pub run: Arc<str>,
    /// The number of workers that the search found.
    pub workers: usize,
    pub stage: usize,
    /// Its request that is ready for the stage at this time ...
    pub ready: Micros,
    /// ... would start then, and that is too late, because
    pub start: Micros,
    pub because: Because,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// the batch would end later than it may.
    Late { end: Micros, by: Micros },
    /// it could run into its timeouts and end later than the batch may.
    MayTimeOut { latest: Micros, by: Micros },
    /// the expected delay by long runners, over all that queue, would pass its budget.
    Risk { expected: Micros, budget: Micros },
}
