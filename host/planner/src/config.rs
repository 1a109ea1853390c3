//! The options of the planner: policy, tolerance, pools and their bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::time::Micros;
use assay_sched::Discipline;

use crate::policy::Policy;
use crate::tuning::Tuning;

/// The operator's options for the planner.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanConfig {
    /// The policy.
    pub policy: Policy,
    /// The settings of the policy.
    pub tuning: Tuning,
    /// The discipline of the scheduler's queues.
    pub discipline: Discipline,
    /// The paper's D for runs that name none.
    pub tolerance: Micros,
    /// The pools with a plan; all others are left alone.
    pub pools: BTreeMap<Arc<str>, PoolConfig>,
    /// Time between two plans while a batch is live; only some policies use it.
    pub period: Micros,
    /// The least time for which workers are kept ready for an announced batch that is overdue by history.
    pub patience: Micros,
}

impl PlanConfig {
    /// The defaults of a policy for these pools.
    #[must_use]
    pub fn new(policy: Policy, pools: BTreeMap<Arc<str>, PoolConfig>) -> Self {
        Self {
            tuning: policy.tuning(),
            policy,
            discipline: Discipline::EBF,
            tolerance: Micros::from_secs(2),
            pools,
            period: Micros::from_secs(10),
            patience: Micros::from_secs(60),
        }
    }
}

/// The operator's options for a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolConfig {
    /// The number of workers that the pool has even when no batch is live.
    pub min: usize,
    /// The most workers: the quota or the capacity, whichever is less.
    pub max: usize,
    /// The paper's C_j: what a worker costs a second, in any unit that the pools share.
    pub cost: f64,
    /// The assumed duration of a start until one was measured.
    pub startup: Micros,
    /// The time for which an idle worker stays that the plan does not hold.
    pub linger: Micros,
}

impl PoolConfig {
    /// Whether the pool always has the same number of workers.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.min == self.max
    }
}
