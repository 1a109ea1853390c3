//! Holding what is used: between two plans only the workers that the simulation uses are held.
//!
//! The paper holds all that were searched from one edge of a batch to the next. A search counts every worker that is
//! used at any time until the last batch ends; most of them are not needed before the next plan.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use assay_core::time::Micros;
use assay_sched::{PoolView, SchedView};

use crate::decision::Decision;
use crate::pool_config::PoolConfig;
use crate::problem::Problem;
use crate::search::Search;
use crate::simulate::{SimulationQuestion, Usage};
use crate::tuning::Tuning;

/// The knowledge with which decisions are corrected, and the memory between plans.
pub(crate) struct KeptWorkers<'a> {
    pub(crate) period: Micros,
    pub(crate) tuning: &'a Tuning,
    pub(crate) pools: &'a BTreeMap<Arc<str>, PoolConfig>,
    pub(crate) view: &'a SchedView,
    /// The numbers that the last plans held in each pool, the latest first.
    pub(crate) held: &'a mut BTreeMap<Arc<str>, VecDeque<usize>>,
}

impl KeptWorkers<'_> {
    /// Between two plans only the workers that the simulation uses are held; demand may raise
    /// that to what was searched, and a little more.
    pub(crate) fn apply(
        mut self,
        search: &mut Search<'_>,
        decisions: &mut BTreeMap<usize, Decision>,
    ) {
        let unseen = PoolView::default();
        let mut startups = BTreeMap::new();
        for (pool, decision) in decisions.iter() {
            let name = &search.simulator.problem.pools[*pool].name;
            let seen = self.view.pools.get(name).unwrap_or(&unseen);
            let supply = self.pools[name].supply(seen);
            search.capacities[*pool] = supply.capacity(decision.ceiling);
            startups.insert(*pool, supply.startup);
        }
        let usage = search.usage();
        let problem = search.simulator.problem;
        for (pool, decision) in decisions {
            // The next plan can still start the workers that are needed later.
            let window = self.period + startups[pool];
            let used = peak_within(&usage[*pool], window).min(decision.ceiling);
            let name = &problem.pools[*pool].name;
            let startup = startups[pool].as_secs_f64();
            if startup <= self.tuning.free_startup * usual_service(problem, *pool) {
                (decision.hold, decision.ceiling) = (used, self.pools[name].max);
                continue;
            }
            let there =
                self.view.pools.get(name).map_or(0, |pool| pool.workers + pool.starting.len());
            decision.hold = used.max(self.held_lately(name, used).min(there));
            let top = decision.ceiling.max(decision.hold);
            let top = top + (self.tuning.headroom * (top as f64).sqrt()) as usize;
            // Who works is paid for until the work is done: more of it costs no more.
            let busy = self.view.pools.get(name).map_or(0, PoolView::busy);
            decision.ceiling = top.max(busy);
        }
    }

    /// The most that this plan and the last ones wanted to hold.
    fn held_lately(&mut self, pool: &Arc<str>, used: usize) -> usize {
        let held = self.held.entry(Arc::clone(pool)).or_default();
        held.push_front(used);
        held.truncate(self.tuning.held_plans + 1);
        held.iter().copied().max().unwrap_or(0)
    }
}

/// Seconds that a stage of this pool runs on average.
fn usual_service(problem: &Problem, pool: usize) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0_f64);
    for index in 0..problem.requests.len() {
        for (stage, time) in problem.flow(index).stages.iter().zip(problem.service(index)) {
            if stage.pool == pool && *time > Micros::ZERO {
                sum += time.as_secs_f64();
                count += 1.0;
            }
        }
    }
    sum / count.max(1.0)
}

fn peak_within(usage: &Usage, window: Micros) -> usize {
    let within = usage.iter().take_while(|(at, _)| *at <= window.0);
    within.map(|(_, busy)| *busy as usize).max().unwrap_or(0)
}

impl Search<'_> {
    /// How many workers of each pool are busy over time, with the capacities as they are.
    fn usage(&mut self) -> Vec<Usage> {
        self.simulations += 1;
        let first = self.simulator.workload.first.clone();
        // Its violations were weighed when the capacities were chosen.
        let _ = self.simulator.run(0, &first, &self.capacities, SimulationQuestion::End);
        self.simulator.usage.clone()
    }
}
