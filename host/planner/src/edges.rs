//! The edges of batches: the moments at which a policy plans that does not plan again in between. Stages of a tenant that are
//! held from then on, or released, are such a moment too.
//!
//! Forecasts are made anew after each period under every policy. Between two edges such a policy keeps what it planned, or
//! asking for forecasts would change its plans.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::{BatchId, TenantId};
use assay_sched::{BatchView, HeldStages, PoolPlan, SchedView};

use crate::plan::{Plan, PoolReport};
use crate::pool_config::PoolConfig;

type Pools = BTreeMap<Arc<str>, PoolConfig>;

/// The circumstances of a plan. As long as they are the same, no batch was announced, got its first request or ended, and
/// no bound and no hold has changed.
#[derive(Debug, PartialEq)]
struct Edge {
    /// The live batches, each with whether its first request has come.
    batches: Vec<(BatchId, bool)>,
    pools: Pools,
    /// The bounds of those who need each pool.
    workers_max: Vec<Option<usize>>,
    /// The held stages by tenant.
    held: Vec<(TenantId, HeldStages)>,
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
            held: view.held.iter().map(|(tenant, held)| (*tenant, held.stages)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_sched::HeldView;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn to_hold_stages_and_to_release_them_are_edges() {
        let edge = |held: Option<(HeldStages, usize)>| {
            let view = |(stages, requests)| (TenantId(Uuid::nil()), HeldView { stages, requests });
            let held = held.map(view).into_iter().collect();
            Edge::of(&Pools::new(), &SchedView { held, ..SchedView::default() })
        };
        let held = edge(Some((HeldStages::First, 0)));
        assert!(held != edge(None) && held != edge(Some((HeldStages::AllButLast, 0))));
        assert_eq!(held, edge(Some((HeldStages::First, 7))), "more of them are none");
    }
}
