//! The edges of batches: the moments at which a policy plans that does not plan again in between.
//!
//! Forecasts are made anew after each period under every policy. Between two edges such a policy keeps what it planned, or
//! asking for forecasts would change its plans.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::BatchId;
use assay_sched::{BatchView, PoolPlan, SchedView};

use crate::plan::{Plan, PoolReport};
use crate::pool_config::PoolConfig;

type Pools = BTreeMap<Arc<str>, PoolConfig>;

/// The circumstances of a plan. As long as they are the same, no batch was announced, got its first request or ended, and
/// no bound has changed.
#[derive(Debug, PartialEq)]
struct Edge {
    /// The live batches, each with whether its first request has come.
    batches: Vec<(BatchId, bool)>,
    pools: Pools,
    /// The bounds of those who need each pool.
    workers_max: Vec<Option<usize>>,
}

/// The plan that was made at an edge.
#[derive(Debug)]
pub(crate) struct EdgePlan {
    edge: Edge,
    pub(crate) pools: Vec<PoolPlan>,
    pub(crate) reports: Vec<PoolReport>,
}

impl EdgePlan {
    pub(crate) fn new(plan: &Plan, pools: &Pools, view: &SchedView) -> Self {
        Self {
            edge: Edge::of(pools, view),
            pools: plan.pools.clone(),
            reports: plan.report.pools.clone(),
        }
    }

    /// Whether there was no edge since.
    pub(crate) fn holds(&self, pools: &Pools, view: &SchedView) -> bool {
        self.edge == Edge::of(pools, view)
    }
}

impl Edge {
    fn of(pools: &Pools, view: &SchedView) -> Self {
        let of_batch = |batch: &BatchView| (batch.id, batch.first_arrival.is_some());
        Self {
            batches: view.batches.iter().map(of_batch).collect(),
            pools: pools.clone(),
            workers_max: view.pools.values().map(|pool| pool.workers_max).collect(),
        }
    }
}
