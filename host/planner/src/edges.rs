//! The edges of batches: the moments at which a policy plans that does not plan again in between.
//!
//! Forecasts are made anew after each period under every policy. Between two edges such a policy keeps what it planned, or
//! asking for forecasts would change its plans.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::BatchId;
use assay_sched::{BatchView, PoolPlan, SchedView};

use crate::collect::Collected;
use crate::plan::{Plan, PlanReport, PoolReport};
use crate::planner::Planner;
use crate::pool_config::PoolConfig;
use crate::search::Search;

/// What a plan was made for. As long as it is the same, no batch was announced, got its first request or ended, and no
/// bound has changed.
#[derive(Debug, PartialEq)]
struct Edge {
    /// The live batches, each with whether its first request has come.
    batches: Vec<(BatchId, bool)>,
    pools: BTreeMap<Arc<str>, PoolConfig>,
    /// The bounds of those who need each pool.
    workers_max: Vec<Option<usize>>,
}

/// The plan that was made at an edge.
#[derive(Debug)]
pub(crate) struct EdgePlan {
    edge: Edge,
    pools: Vec<PoolPlan>,
    reports: Vec<PoolReport>,
}

impl Planner {
    /// The last plan with forecasts of now, if its policy plans at edges alone and there was none since.
    pub(crate) fn between_edges(&self, collected: &Collected, view: &SchedView) -> Option<Plan> {
        let plan = self.edge_plan.as_ref().filter(|plan| plan.edge == self.edge(view))?;
        let rule = self.rule(collected);
        let mut search = Search::new(&collected.problem, &rule);
        let forecasts = self.forecasts(collected, view, &mut search, &plan.reports);
        let at = collected.problem.now;
        let report = PlanReport {
            at,
            policy: self.config.policy,
            pools: plan.reports.clone(),
            forecasts,
            requests: collected.problem.requests.len(),
            simulations: search.simulations,
        };
        let again = (!view.batches.is_empty()).then(|| at + self.config.period);
        Some(Plan { pools: plan.pools.clone(), again, report })
    }

    /// Keeps a plan until the next edge, if its policy does not plan again before, but forecasts do.
    pub(crate) fn keep_until_edge(&mut self, plan: &Plan, collected: &Collected, view: &SchedView) {
        let algorithm = self.config.policy.algorithm();
        let replans = algorithm.replans() || algorithm.is_static() || !collected.unknown.is_empty();
        self.edge_plan = (self.config.forecasts && !replans).then(|| EdgePlan {
            edge: self.edge(view),
            pools: plan.pools.clone(),
            reports: plan.report.pools.clone(),
        });
    }

    fn edge(&self, view: &SchedView) -> Edge {
        let of_batch = |batch: &BatchView| (batch.id, batch.first_arrival.is_some());
        Edge {
            batches: view.batches.iter().map(of_batch).collect(),
            pools: self.config.pools.clone(),
            workers_max: view.pools.values().map(|pool| pool.workers_max).collect(),
        }
    }
}
