//! A plan, and the report that explains each number in it.

use std::sync::Arc;

use assay_core::id::BatchId;
use assay_core::time::Micros;
use assay_sched::PoolPlan;

use crate::policy::Policy;

/// The workers of each pool until the next plan, and the report that explains them.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// A plan for each pool of the configuration.
    pub pools: Vec<PoolPlan>,
    /// The time of the next plan, if no event calls for one earlier.
    pub again: Option<Micros>,
    /// The reasons.
    pub report: PlanReport,
}

/// A plan, explained.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanReport {
    /// The time of the plan.
    pub at: Micros,
    /// The policy that made it.
    pub policy: Policy,
    /// The reasons, by pool.
    pub pools: Vec<PoolReport>,
    /// The requests in SIMULATE.
    pub requests: usize,
    /// The runs of SIMULATE.
    pub simulations: usize,
}

/// The plan of a pool, explained.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolReport {
    /// The name of the pool.
    pub pool: Arc<str>,
    /// The workers that stay whether or not anything waits.
    pub hold: usize,
    /// The most workers that demand may raise this to.
    pub ceiling: usize,
    /// The workers with which no request would queue.
    pub zero_queue: usize,
    /// Why the ceiling is what it is.
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
    Maximum {
        /// The workers that the plan would take.
        wanted: usize,
    },
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
    /// The batch that would be late.
    pub batch: BatchId,
    /// Its run.
    pub run: Arc<str>,
    /// The number of workers that the search found.
    pub workers: usize,
    /// The stage at which its request would queue, from 0.
    pub stage: usize,
    /// The time at which its request is ready for the stage.
    pub ready: Micros,
    /// The time at which the request would start.
    pub start: Micros,
    /// Why that is too late.
    pub because: Because,
}

/// Why a start is too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// The batch would end later than it may.
    Late {
        /// The end of the batch.
        end: Micros,
        /// The latest allowed end.
        by: Micros,
    },
    /// The request could run into its timeouts and end later than the batch may.
    MayTimeOut {
        /// The end of the request if all its stages time out.
        latest: Micros,
        /// The latest allowed end.
        by: Micros,
    },
    /// The expected delay by long runners, over all requests that queue, would exceed its budget.
    Risk {
        /// The expected delay.
        expected: Micros,
        /// The allowed expected delay.
        budget: Micros,
    },
    /// The requests of the batch, whose trainer consumes groups, would queue for longer than they may.
    Waits {
        /// The mean time that the batch's requests would queue up to this start.
        mean: Micros,
        /// The allowed mean time.
        max: Micros,
    },
}
