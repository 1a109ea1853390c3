//! A plan, and the report that explains each number in it.

use std::sync::Arc;

use assay_core::time::Micros;
use assay_sched::PoolPlan;

use crate::forecast::Forecast;
use crate::policy::Policy;
use crate::reason::Reason;

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
    /// When each live batch with a history is expected to end, if that was asked for.
    pub forecasts: Vec<Forecast>,
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
    /// The reason for the ceiling.
    pub reason: Reason,
}
