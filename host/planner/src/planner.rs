//! The planner's state between plans: the history that it learned, and its last plans.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use assay_core::time::Micros;
use assay_sched::{Profile, SchedView};

use crate::collect::{Collected, Collector};
use crate::config::PlanConfig;
use crate::edges::EdgePlan;
use crate::history::RunHistories;
use crate::plan::Plan;
use crate::problem::{Problem, ProblemPool};

/// The planner: its options, the learned history, and its last plans.
#[derive(Debug)]
pub struct Planner {
    /// The operator's options.
    options: PlanConfig,
    /// The same, with the workers that came by themselves on top of each pool's bounds.
    pub(crate) config: PlanConfig,
    history: RunHistories,
    /// The result of each pool's last search, where the next search starts.
    pub(crate) last: BTreeMap<Arc<str>, usize>,
    /// The numbers that the last plans held in each pool, the latest first.
    pub(crate) held: BTreeMap<Arc<str>, VecDeque<usize>>,
    pub(crate) edge_plan: Option<EdgePlan>,
}

impl Planner {
    /// A planner without history.
    #[must_use]
    pub fn new(config: PlanConfig) -> Self {
        let history = RunHistories::new(config.tuning.history);
        Self {
            options: config.clone(),
            config,
            history,
            last: BTreeMap::new(),
            held: BTreeMap::new(),
            edge_plan: None,
        }
    }

    /// Replaces the options; the learned history stays.
    pub fn configure(&mut self, config: PlanConfig) {
        self.options = config.clone();
        self.config = config;
        self.edge_plan = None;
    }

    /// A batch was completed, or is read back after a restart; in order of completion.
    pub fn learn(&mut self, profile: Arc<Profile>) {
        self.history.learn(profile);
    }

    /// A plan for the scheduler's current state.
    #[must_use]
    pub fn plan(&mut self, now: Micros, view: &SchedView) -> Plan {
        self.count_those_that_came(view);
        let collected = self.collect(now, view);
        if let Some(plan) = self.between_edges(&collected, view) {
            return plan;
        }
        let plan = self.decide(&collected, view);
        self.keep_until_edge(&plan, &collected, view);
        plan
    }

    /// Plans for a workload that the caller knows, in place of one guessed from history.
    #[must_use]
    pub fn plan_for(&mut self, problem: Problem, view: &SchedView) -> Plan {
        self.decide(&Collected::known(problem), view)
    }

    /// Workers that came serve beside those that are started: a plan is made for all of them.
    fn count_those_that_came(&mut self, view: &SchedView) {
        for (name, options) in &self.options.pools {
            let came = came(name, view);
            if let Some(pool) = self.config.pools.get_mut(name) {
                pool.min = options.min.saturating_add(came);
                pool.max = options.max.saturating_add(came);
            }
        }
    }

    fn collect(&self, now: Micros, view: &SchedView) -> Collected {
        let collector = Collector::new(now, &self.config, self.problem_pools());
        collector.collect(view, &self.history)
    }

    /// Those that are planned for. All others are one, the last: their names are the tenants', and
    /// a search takes longer the more pools there are.
    fn problem_pools(&self) -> Vec<ProblemPool> {
        let planned = self.config.pools.iter().map(|(name, pool)| ProblemPool {
            name: Arc::clone(name),
            cost: pool.cost,
            max: pool.max,
        });
        // No pool can be configured under this name.
        let others = ProblemPool { name: "".into(), cost: 0.0, max: usize::MAX };
        planned.chain([others]).collect()
    }
}

/// The workers of a pool that came by themselves.
pub(crate) fn came(pool: &Arc<str>, view: &SchedView) -> usize {
    view.pools.get(pool).map_or(0, |pool| pool.came)
}
