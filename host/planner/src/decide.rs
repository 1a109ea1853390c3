//! The decision: from a workload to the hold, ceiling and reason of each pool.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::time::Micros;
use assay_sched::{BatchView, PoolPlan, PoolView, SchedView};

use crate::collect::Collected;
use crate::decision::{Decision, PoolTask};
use crate::edges::EdgePlan;
use crate::forecast::Forecast;
use crate::holding::KeptWorkers;
use crate::plan::{Plan, PlanReport, PoolReport};
use crate::planner::{Planner, came};
use crate::pool_config::PoolConfig;
use crate::problem::ProblemBatch;
use crate::reason::Reason;
use crate::rule::{Check, Rule};
use crate::search::{Search, Supply};
use crate::simulate::{Capacity, SimulationQuestion};
use crate::tuning::Checked;

/// Workers of a pool that a batch without any history may have at first; twice as many as are busy
/// from then on.
const UNKNOWN_FIRST: usize = 4;

impl Planner {
    pub(crate) fn decide(&mut self, collected: &Collected, view: &SchedView) -> Plan {
        let algorithm = self.config.policy.algorithm();
        let fixed = |pool: &PoolConfig| algorithm.is_static() || pool.is_fixed();
        if self.config.pools.values().all(fixed) {
            // Nothing to decide, so nothing to simulate.
            let pools = self.config.pools.iter();
            let decided = pools.map(|(name, pool)| (Arc::clone(name), Decision::fixed(pool)));
            let mut plan = self.conclude(collected, view, decided.collect(), 0);
            if self.config.forecasts && !collected.problem.batches.is_empty() {
                let rule = self.rule(collected);
                let mut search = Search::new(&collected.problem, &rule);
                plan.report.forecasts =
                    self.forecasts(collected, view, &mut search, &plan.report.pools);
            }
            return plan;
        }
        let problem = &collected.problem;
        let rule = self.rule(collected);
        let mut search = Search::new(problem, &rule);
        let mut decisions: BTreeMap<usize, Decision> = BTreeMap::new();
        for place in search.places() {
            let name = &problem.pools[place.pool].name;
            let Some(pool) = self.config.pools.get(name) else { continue };
            let decision = if pool.is_fixed() {
                search.capacities[place.pool] = Capacity::of(pool.max);
                Decision::fixed(pool)
            } else {
                let supply = self.supply(name, pool, view);
                let hint = self.last.get(name).copied();
                let task = PoolTask { place, config: pool, supply, hint, bases: &collected.bases };
                algorithm.allocate(&mut search, &task)
            };
            self.last.insert(Arc::clone(name), decision.ceiling);
            decisions.insert(place.pool, decision);
        }
        if self.config.tuning.holds_used {
            let holding = KeptWorkers {
                period: self.config.period,
                tuning: &self.config.tuning,
                pools: &self.config.pools,
                view,
                held: &mut self.held,
            };
            holding.apply(&mut search, &mut decisions);
        }
        let simulations = search.simulations;
        let decided = decisions
            .into_iter()
            .map(|(pool, decision)| (Arc::clone(&problem.pools[pool].name), decision));
        let mut plan = self.conclude(collected, view, decided.collect(), simulations);
        if self.config.forecasts {
            plan.report.forecasts =
                self.forecasts(collected, view, &mut search, &plan.report.pools);
        }
        plan
    }

    /// The last plan with forecasts of now, if its policy plans at edges alone and there was none since.
    pub(crate) fn between_edges(&self, collected: &Collected, view: &SchedView) -> Option<Plan> {
        let last = self.edge_plan.as_ref().filter(|last| last.holds(&self.config.pools, view))?;
        let rule = self.rule(collected);
        let mut search = Search::new(&collected.problem, &rule);
        let forecasts = self.forecasts(collected, view, &mut search, &last.reports);
        let at = collected.problem.now;
        let report = PlanReport {
            at,
            policy: self.config.policy,
            pools: last.reports.clone(),
            forecasts,
            requests: collected.problem.requests.len(),
            simulations: search.simulations,
        };
        let again = (!view.batches.is_empty()).then(|| at + self.config.period);
        Some(Plan { pools: last.pools.clone(), again, report })
    }

    /// Keeps a plan until the next edge, if its policy does not plan again before, but forecasts do.
    pub(crate) fn keep_until_edge(&mut self, plan: &Plan, collected: &Collected, view: &SchedView) {
        let algorithm = self.config.policy.algorithm();
        let replans = algorithm.replans() || algorithm.is_static() || !collected.unknown.is_empty();
        self.edge_plan = (self.config.forecasts && !replans)
            .then(|| EdgePlan::new(plan, &self.config.pools, view));
    }

    fn rule(&self, collected: &Collected) -> Rule {
        let tuning = &self.config.tuning;
        // A workload that is known needs no precaution.
        let check = match tuning.check {
            _ if collected.bases.is_empty() => Check::Late,
            Checked::Late => Check::Late,
            Checked::Timeouts => Check::Timeouts,
            Checked::Risk { budget } => {
                let unreached = collected.bases.iter().zip(&collected.unreached);
                let tails = unreached.map(|(basis, unreached)| unreached.tails(basis));
                let known = collected.bases.iter().zip(&collected.drifts);
                let trusted =
                    known.map(|(basis, drift)| !basis.is_new && !drift.is_some()).collect();
                Check::Risk { tails: tails.collect(), trusted, budget }
            }
        };
        Rule { discipline: self.config.discipline, check }
    }

    /// The workers of a pool that could work, over time.
    fn supply(&self, name: &Arc<str>, pool: &PoolConfig, view: &SchedView) -> Supply {
        let default = PoolView::default();
        let pool_view = view.pools.get(name).unwrap_or(&default);
        let supply = pool.supply(pool_view);
        if !self.config.tuning.models_startup {
            return Supply { present: usize::MAX, starting: Vec::new(), ..supply };
        }
        supply
    }

    /// Applies what no simulation knows: bounds, and batches without any history.
    fn conclude(
        &mut self,
        collected: &Collected,
        view: &SchedView,
        decided: BTreeMap<Arc<str>, Decision>,
        simulations: usize,
    ) -> Plan {
        let algorithm = self.config.policy.algorithm();
        let mut pools = Vec::new();
        let mut reports = Vec::new();
        for (name, mut decision) in decided {
            let config = &self.config.pools[&name];
            let first = self.unknown(&name, &collected.unknown, view);
            if first > 0 && !algorithm.is_static() {
                decision.ceiling = decision.ceiling.max(first);
                decision.reason = Reason::Unknown;
            }
            if decision.ceiling < config.min {
                decision.ceiling = config.min;
                decision.reason = Reason::Minimum;
            }
            if holds_requests_of(&name, view) && !algorithm.is_static() {
                // They may be released at any time, and would wait for workers that were stopped until then.
                let there = view.pools.get(&name).map_or(0, |pool| pool.workers);
                decision.hold = decision.hold.max(there);
                decision.ceiling = decision.ceiling.max(there);
                if decision.reason == Reason::Idle {
                    decision.reason = Reason::Held;
                }
            }
            // A few workers serve the next requests at once, before the next plan.
            decision.ceiling = decision.ceiling.max(UNKNOWN_FIRST);
            let max = self.workers_max(&name, view).max(config.min);
            let refused = decision.ceiling > max && max < config.max;
            if refused && decision.reason != Reason::Idle {
                decision.reason = Reason::Maximum { wanted: decision.ceiling };
            }
            decision.ceiling = decision.ceiling.min(max);
            decision.hold = decision.hold.clamp(config.min, decision.ceiling);
            let Decision { hold, ceiling, zero_queue, reason } = decision;
            // The rest is to be started; the bounds include those that came, so it stays within the operator's.
            let came = came(&name, view);
            let (hold, ceiling) = (hold.saturating_sub(came), ceiling.saturating_sub(came));
            let pool = Arc::clone(&name);
            pools.push(PoolPlan { pool, hold, ceiling, linger: config.linger });
            reports.push(PoolReport { pool: name, hold, ceiling, zero_queue, reason });
        }
        let now = collected.problem.now;
        let replans = algorithm.replans() || !collected.unknown.is_empty();
        // Until nothing is held for what was.
        let least = |pool: &Arc<str>| self.config.pools[pool].min.saturating_sub(came(pool, view));
        let held = pools.iter().any(|plan| plan.hold > least(&plan.pool));
        let live = (held || !view.batches.is_empty()) && !algorithm.is_static();
        let report = PlanReport {
            at: now,
            policy: self.config.policy,
            pools: reports,
            forecasts: Vec::new(),
            requests: collected.problem.requests.len(),
            simulations,
        };
        let again = (replans && live) || (self.config.forecasts && !view.batches.is_empty());
        Plan { pools, again: again.then(|| now + self.config.period), report }
    }

    /// Runs SIMULATE once on what is planned.
    fn forecasts(
        &self,
        collected: &Collected,
        view: &SchedView,
        search: &mut Search<'_>,
        pools: &[PoolReport],
    ) -> Vec<Forecast> {
        let problem = &collected.problem;
        let unseen = PoolView::default();
        for (index, pool) in problem.pools.iter().enumerate() {
            let planned = pools.iter().find(|report| report.pool == pool.name);
            let Some((planned, config)) = planned.zip(self.config.pools.get(&pool.name)) else {
                continue;
            };
            let supply = config.supply(view.pools.get(&pool.name).unwrap_or(&unseen));
            // A plan stops no busy worker.
            let workers = (planned.ceiling + came(&pool.name, view)).max(supply.present);
            search.capacities[index] = supply.capacity(workers);
        }
        let first = search.simulator.workload.first.clone();
        // Whether a batch is late is another question.
        let _ = search.simulator.run(0, &first, &search.capacities, SimulationQuestion::End);
        let batches = problem.batches.iter().zip(&search.simulator.batch_ends);
        let of_batch = |((batch, end), earliest_end): ((&ProblemBatch, &u64), &Micros)| Forecast {
            batch: batch.id,
            earliest_end: *earliest_end,
            end: (problem.now + Micros(*end)).max(*earliest_end),
        };
        batches.zip(&collected.earliest_ends).map(of_batch).collect()
    }

    /// The pool's own bound, or those of all who need it: more workers would serve nobody.
    fn workers_max(&self, pool: &Arc<str>, view: &SchedView) -> usize {
        let max = self.config.pools[pool].max;
        match view.pools.get(pool).and_then(|pool| pool.workers_max) {
            Some(tenants) if !self.config.policy.algorithm().is_static() => max.min(tenants),
            _ => max,
        }
    }

    /// Workers for batches about which nothing is known: a few, then twice as many as are busy.
    fn unknown(&self, pool: &Arc<str>, batches: &[BatchView], view: &SchedView) -> usize {
        let needs = |batch: &&BatchView| batch.stages.iter().any(|stage| stage.pool == *pool);
        if !batches.iter().any(|batch| needs(&batch) && batch.first_arrival.is_some()) {
            return 0;
        }
        let busy = view.pools.get(pool).map_or(0, PoolView::busy);
        UNKNOWN_FIRST.max(2 * busy)
    }
}

/// Whether requests wait that need the pool once their stage is no longer held.
fn holds_requests_of(pool: &Arc<str>, view: &SchedView) -> bool {
    let mut stages = view.batches.iter().flat_map(|batch| batch.stages.iter().zip(&batch.at_stage));
    stages.any(|(shape, at_stage)| at_stage.held > 0 && shape.pool == *pool)
}
