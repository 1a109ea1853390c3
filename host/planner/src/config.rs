//! The options of the planner: policy, tolerance, pools and their bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::time::Micros;
use assay_sched::Discipline;

use crate::policy::Policy;
use crate::pool_config::PoolConfig;
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
    /// Whether a plan tells when each live batch is expected to end, under every policy.
    pub forecasts: bool,
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
            forecasts: false,
        }
    }
}
