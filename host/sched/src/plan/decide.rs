//! From a workload to what each pool holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_model::time::Micros;

use super::collect::Collected;
use super::problem::Problem;
use super::rule::{Check, Rule, Violation};
use super::search::{Place, Search, Supply};
use super::simulate::{Capacity, Until, Usage};
use super::tuning::Checked;
use super::{Bound, Mode, Plan, PlanReport, Planner, PoolConfig, PoolReport, Reason};
use crate::scale::PoolPlan;
use crate::seen::{BatchSeen, PoolSeen, Seen};

/// A search that starts from the last plan's number stops within one part in this many.
const PRECISION: usize = 100;
/// Workers of a pool that a batch without any history may have at first; twice as many as are busy
/// from then on.
const UNKNOWN_FIRST: usize = 4;

/// What a pool gets.
#[derive(Debug, Clone)]
struct Decision {
    hold: usize,
    ceiling: usize,
    zero_queue: usize,
    reason: Reason,
}

impl Decision {
    fn fixed(pool: &PoolConfig) -> Self {
        Self { hold: pool.max, ceiling: pool.max, zero_queue: 0, reason: Reason::Mode }
    }
}

impl Planner {
    pub(super) fn decide(&mut self, collected: &Collected, seen: &Seen) -> Plan {
        let fixed = |pool: &PoolConfig| self.config.mode == Mode::Fixed || pool.is_fixed();
        if self.config.pools.values().all(fixed) {
            // Nothing to decide, so nothing to simulate.
            let pools = self.config.pools.iter();
            let decided = pools.map(|(name, pool)| (Arc::clone(name), Decision::fixed(pool)));
            return self.conclude(collected, seen, decided.collect(), 0);
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
            } else if self.config.mode == Mode::Zq {
                zero_queue_decision(problem, collected, place.pool)
            } else {
                let supply = self.supply(name, pool, seen);
                search_pool(&mut search, place, pool, &supply, self.last.get(name).copied())
            };
            self.last.insert(Arc::clone(name), decision.ceiling);
            decisions.insert(place.pool, decision);
        }
        if self.config.mode == Mode::Assay {
            self.hold_what_is_used(&mut search, &mut decisions, seen);
        }
        let simulations = search.simulations;
        let decided = decisions
            .into_iter()
            .map(|(pool, decision)| (Arc::clone(&problem.pools[pool].name), decision));
        self.conclude(collected, seen, decided.collect(), simulations)
    }

    fn rule(&self, collected: &Collected) -> Rule {
        let tuning = &self.config.tuning;
        // A workload that is known needs no precaution.
        let check = match tuning.check {
            _ if collected.bases.is_empty() => Check::Late,
            Checked::Late => Check::Late,
            Checked::Timeouts => Check::Timeouts,
            Checked::Risk { budget } => {
                let tails = collected.bases.iter().map(|basis| basis.tails.clone());
                let trusted = collected.drifts.iter().map(|drift| !drift.is_some()).collect();
                Check::Risk { tails: tails.collect(), trusted, budget }
            }
        };
        Rule { order: self.config.order, check }
    }

    /// When how many workers of a pool could work.
    fn supply(&self, name: &Arc<str>, pool: &PoolConfig, seen: &Seen) -> Supply {
        let default = PoolSeen::default();
        let seen = seen.pools.get(name).unwrap_or(&default);
        let startup = seen.startup.unwrap_or(pool.startup);
        if self.config.mode != Mode::Assay {
            return Supply { present: usize::MAX, starting: Vec::new(), startup };
        }
        let starting = seen.starting.iter().map(|since| startup.since(*since)).collect();
        Supply { present: seen.workers, starting, startup }
    }

    /// Between two plans only the workers that the simulation uses are held; demand may raise
    /// that to what was searched, and a little more.
    fn hold_what_is_used(
        &mut self,
        search: &mut Search<'_>,
        decisions: &mut BTreeMap<usize, Decision>,
        seen: &Seen,
    ) {
        let mut startups = BTreeMap::new();
        for (pool, decision) in decisions.iter() {
            let name = &search.simulator.problem.pools[*pool].name;
            let supply = self.supply(name, &self.config.pools[name], seen);
            search.capacities[*pool] = supply.capacity(decision.ceiling);
            startups.insert(*pool, supply.startup);
        }
        let usage = search.usage();
        let problem = search.simulator.problem;
        for (pool, decision) in decisions {
            // What is needed later can still be started by the next plan.
            let window = self.config.period + startups[pool];
            let used = peak_within(&usage[*pool], window).min(decision.ceiling);
            let name = &problem.pools[*pool].name;
            let startup = startups[pool].as_secs_f64();
            if startup <= self.config.tuning.free_startup * usual_service(problem, *pool) {
                (decision.hold, decision.ceiling) = (used, self.config.pools[name].max);
                continue;
            }
            let there = seen.pools.get(name).map_or(0, |pool| pool.workers + pool.starting.len());
            decision.hold = used.max(self.held_lately(name, used).min(there));
            let top = decision.ceiling.max(decision.hold);
            let top = top + (self.config.tuning.headroom * (top as f64).sqrt()) as usize;
            // Who works is paid for until the work is done: more of it costs no more.
            let busy = seen.pools.get(name).map_or(0, |pool| pool.workers - pool.idle);
            decision.ceiling = top.max(busy);
        }
    }

    /// The most that this plan and the last ones wanted to hold.
    fn held_lately(&mut self, pool: &Arc<str>, used: usize) -> usize {
        let held = self.held.entry(Arc::clone(pool)).or_default();
        held.push_front(used);
        held.truncate(self.config.tuning.held_plans + 1);
        held.iter().copied().max().unwrap_or(0)
    }

    /// Adds what no simulation knows: bounds, and batches without any history.
    fn conclude(
        &mut self,
        collected: &Collected,
        seen: &Seen,
        decided: BTreeMap<Arc<str>, Decision>,
        simulations: usize,
    ) -> Plan {
        let mut pools = Vec::new();
        let mut reports = Vec::new();
        for (name, mut decision) in decided {
            let config = &self.config.pools[&name];
            let first = self.unknown(&name, &collected.unknown, seen);
            if first > 0 && self.config.mode != Mode::Fixed {
                decision.ceiling = decision.ceiling.max(first);
                decision.reason = Reason::Unknown;
            }
            if decision.ceiling < config.min {
                decision.ceiling = config.min;
                decision.reason = Reason::Minimum;
            }
            // Whatever comes next is served by a few at once, before the next plan.
            decision.ceiling = decision.ceiling.max(UNKNOWN_FIRST);
            let max = self.workers_max(&name, seen).max(config.min);
            let refused = decision.ceiling > max && max < config.max;
            if refused && decision.reason != Reason::Idle {
                decision.reason = Reason::Maximum { wanted: decision.ceiling };
            }
            decision.ceiling = decision.ceiling.min(max);
            decision.hold = decision.hold.clamp(config.min, decision.ceiling);
            let Decision { hold, ceiling, zero_queue, reason } = decision;
            let pool = Arc::clone(&name);
            pools.push(PoolPlan { pool, hold, ceiling, linger: config.linger });
            reports.push(PoolReport { pool: name, hold, ceiling, zero_queue, reason });
        }
        let now = collected.problem.now;
        let replans = self.config.mode == Mode::Assay || !collected.unknown.is_empty();
        // Until nothing is held for what was.
        let held = pools.iter().any(|plan| plan.hold > self.config.pools[&plan.pool].min);
        let live = (held || !seen.batches.is_empty()) && self.config.mode != Mode::Fixed;
        let report = PlanReport {
            at: now,
            mode: self.config.mode,
            pools: reports,
            requests: collected.problem.requests.len(),
            simulations,
        };
        Plan { pools, again: (replans && live).then(|| now + self.config.period), report }
    }

    /// The pool's own bound, or those of all who need it: more workers would serve nobody.
    fn workers_max(&self, pool: &Arc<str>, seen: &Seen) -> usize {
        let max = self.config.pools[pool].max;
        match seen.pools.get(pool).and_then(|pool| pool.workers_max) {
            Some(tenants) if self.config.mode != Mode::Fixed => max.min(tenants),
            _ => max,
        }
    }

    /// Workers for batches about which nothing is known: a few, then twice as many as are busy.
    fn unknown(&self, pool: &Arc<str>, batches: &[BatchSeen], seen: &Seen) -> usize {
        let needs = |batch: &&BatchSeen| batch.stages.iter().any(|stage| stage.pool == *pool);
        if !batches.iter().any(|batch| needs(&batch) && batch.first_arrival.is_some()) {
            return 0;
        }
        let busy = seen.pools.get(pool).map_or(0, |pool| pool.workers - pool.idle);
        UNKNOWN_FIRST.max(2 * busy)
    }
}

/// Algorithm 1 for one pool, from what is known.
fn search_pool(
    search: &mut Search<'_>,
    place: Place,
    pool: &PoolConfig,
    supply: &Supply,
    hint: Option<usize>,
) -> Decision {
    let zero_queue = search.zero_queue(place.pool);
    let high = zero_queue.min(pool.max);
    if high == 0 {
        let reason =
            if zero_queue == 0 { Reason::Idle } else { Reason::Maximum { wanted: zero_queue } };
        return Decision { hold: 0, ceiling: 0, zero_queue, reason };
    }
    search.enter(place);
    let (mut workers, mut bound) =
        search.least(place, (1, high), PRECISION, hint, |workers| supply.capacity(workers));
    let late = workers == high
        && supply.present < high
        && search.attempt(place, supply.capacity(high)).is_err();
    if late {
        // No number of starts can be in time for what is due by then: plan as if they could.
        (workers, bound) = search.least(place, (1, high), PRECISION, hint, Capacity::of);
    }
    let reason = match bound {
        _ if workers == pool.max && pool.max < zero_queue => Reason::Maximum { wanted: zero_queue },
        Some(violation) => Reason::Bound(bound_of(search.simulator.problem, workers, &violation)),
        None => Reason::Needed,
    };
    Decision { hold: workers, ceiling: workers, zero_queue, reason }
}

fn bound_of(problem: &Problem, workers: usize, violation: &Violation) -> Bound {
    let batch = &problem.batches[problem.requests[violation.request].batch];
    Bound {
        batch: batch.id,
        run: Arc::clone(&batch.run),
        workers,
        stage: violation.stage,
        ready: violation.ready,
        start: violation.start,
        because: violation.because,
    }
}

/// ZQ-Dedicated: for each live batch as many as the last one of its run used at most.
fn zero_queue_decision(problem: &Problem, collected: &Collected, pool: usize) -> Decision {
    let peak = |(batch, basis): (usize, &Arc<super::basis::Basis>)| {
        basis.zero_queue_peak(&problem.flows[problem.batches[batch].flow], pool)
    };
    let workers = collected.bases.iter().enumerate().map(peak).sum();
    let reason = if workers == 0 { Reason::Idle } else { Reason::Mode };
    Decision { hold: workers, ceiling: workers, zero_queue: workers, reason }
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
        // What it breaks was weighed when the capacities were chosen.
        let _ = self.simulator.run(0, &first, &self.capacities, Until::End);
        self.simulator.usage.clone()
    }
}
