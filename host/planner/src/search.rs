//! Algorithm 1: the fewest workers of each pool that satisfy the rule, dear pools first.

use std::cmp::Ordering;

use assay_core::time::Micros;

use crate::problem::Problem;
use crate::rule::{Rule, Violation};
use crate::simulate::{Capacity, SimulationQuestion, Simulator, Usage};
use crate::workload::Moment;

/// The workers of a pool over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Supply {
    pub(crate) present: usize,
    /// The times until the workers that start have joined, ascending.
    pub(crate) starting: Vec<Micros>,
    /// The time until a worker that is asked for now has joined.
    pub(crate) startup: Micros,
    /// The number of starts without a place.
    pub(crate) unplaced: usize,
}

impl Supply {
    /// The capacity over time that asking for this many workers now leads to.
    pub(crate) fn capacity(&self, workers: usize) -> Capacity {
        let mut later = Vec::new();
        let mut missing = workers.saturating_sub(self.present);
        for at in self.starting.iter().take(missing) {
            later.push((at.0, 1));
        }
        missing -= later.len();
        if missing > 0 {
            later.push((self.startup.0, missing));
            later.sort_unstable();
        }
        Capacity { workers: Some(workers.min(self.present)), later }
    }
}

/// A pool and the block it is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) block: usize,
    pub(crate) pool: usize,
}

pub(crate) struct Search<'a> {
    pub(crate) simulator: Simulator<'a>,
    pub(crate) capacities: Vec<Capacity>,
    /// The arrivals at each block, from the blocks before the one that was entered and from outside.
    arrivals: Vec<Vec<Moment>>,
    /// The arrivals at each block if no request ever queues.
    unqueued: Vec<Vec<Moment>>,
    /// The most workers that each pool would use then.
    zero_queue: Vec<usize>,
    pub(crate) simulations: usize,
}

impl<'a> Search<'a> {
    pub(crate) fn new(problem: &'a Problem, rule: &'a Rule) -> Self {
        let mut simulator = Simulator::new(problem, rule);
        let capacities = vec![Capacity::default(); problem.pools.len()];
        let first = simulator.workload.first.clone();
        // Without queues nothing breaks the rule.
        let _ = simulator.run(0, &first, &capacities, SimulationQuestion::End);
        let peak = |usage: &Usage| usage.iter().map(|(_, busy)| *busy).max().unwrap_or(0) as usize;
        Self {
            zero_queue: simulator.usage.iter().map(peak).collect(),
            unqueued: simulator.arrived.clone(),
            arrivals: Vec::new(),
            simulations: 1,
            capacities,
            simulator,
        }
    }

    /// The most workers that a pool would use if no request ever queued.
    pub(crate) fn zero_queue(&self, pool: usize) -> usize {
        self.zero_queue[pool]
    }

    /// The pools in the order of their cost, the dear ones first.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for (block, pools) in self.simulator.workload.blocks.iter().enumerate() {
            places.extend(pools.iter().map(|&pool| Place { block, pool }));
        }
        let pools = &self.simulator.problem.pools;
        places.sort_by(|a, b| pools[b.pool].cost.total_cmp(&pools[a.pool].cost));
        places
    }

    /// How many requests take part in a pool.
    pub(crate) fn participants(&self, pool: usize) -> usize {
        let problem = self.simulator.problem;
        let takes_part = |&index: &usize| {
            let request = &problem.requests[index];
            let left = problem.flow(index).stages.iter().zip(problem.service(index));
            let reached = left.skip(request.stage).take_while(|(_, time)| **time > Micros::ZERO);
            reached.into_iter().any(|(stage, _)| stage.pool == pool)
        };
        (0..problem.requests.len()).filter(takes_part).count()
    }

    /// Searches this pool from now on, with the pools before it as they are. Its part of the budget for
    /// risk is its own share by cost and the rest of the more expensive pools' shares: where queueing saves
    /// little, little is risked.
    pub(crate) fn enter(&mut self, at: Place) {
        let pools = &self.simulator.problem.pools;
        let (own, total) = (pools[at.pool].cost, pools.iter().map(|pool| pool.cost).sum::<f64>());
        let dear = pools.iter().map(|pool| pool.cost).filter(|cost| *cost >= own).sum::<f64>();
        self.simulator.budget_fraction = if total > 0.0 { dear / total } else { 1.0 };
        let simulator = &mut self.simulator;
        let before = &simulator.workload.blocks[..at.block];
        if before.iter().flatten().any(|&pool| self.capacities[pool].is_limited()) {
            self.arrivals.clone_from(&simulator.workload.first);
            self.simulations += 1;
            let (before, capacities) = (0..at.block, &self.capacities);
            // Budgets that it breaks were weighed when the capacities were chosen.
            let _ =
                simulator.run_blocks(before, &self.arrivals, capacities, SimulationQuestion::End);
            for (arrivals, passed) in
                self.arrivals.iter_mut().zip(&simulator.arrived).skip(at.block)
            {
                arrivals.extend_from_slice(passed);
                arrivals.sort();
            }
        } else {
            let workload = &simulator.workload;
            let by_block = self.unqueued.iter().zip(&workload.first).enumerate();
            let by_block = by_block.map(|(block, (unqueued, first))| match block.cmp(&at.block) {
                _ if at.block == 0 => first.clone(),
                Ordering::Less => Vec::new(),
                Ordering::Equal => unqueued.clone(),
                Ordering::Greater => {
                    let before = |moment: &&Moment| {
                        workload.source(moment.request(), block).is_none_or(|from| from < at.block)
                    };
                    unqueued.iter().filter(before).copied().collect()
                }
            });
            self.arrivals = by_block.collect();
            simulator.forget_queues();
        }
        simulator.carry_queues();
    }

    /// Tries a capacity for the pool that was entered.
    pub(crate) fn attempt(&mut self, at: Place, capacity: Capacity) -> Result<(), Violation> {
        self.simulations += 1;
        self.capacities[at.pool] = capacity;
        self.simulator.run(
            at.block,
            &self.arrivals,
            &self.capacities,
            SimulationQuestion::Violation,
        )
    }

    /// Checks from now on only the end of those batches that break the rule with this capacity, the most that can be had:
    /// it may be later than with this capacity by the batch's tolerance. Returns false, and changes nothing, if such a
    /// batch is consumed by groups.
    pub(crate) fn accept_late(&mut self, at: Place, most: Capacity) -> bool {
        self.simulations += 1;
        self.capacities[at.pool] = most;
        let simulator = &mut self.simulator;
        // The batches that it breaks are in `broken`.
        let _ = simulator.run(at.block, &self.arrivals, &self.capacities, SimulationQuestion::End);
        let batches = simulator.workload.batches.iter().zip(&simulator.broken);
        if batches.clone().any(|(facts, broken)| *broken && facts.wait_budget.is_some()) {
            return false;
        }
        let ends = batches.zip(&simulator.batch_ends).map(|((facts, broken), end)| {
            let due = facts.earliest_end.saturating_add_unsigned(facts.tolerance);
            let end = end.saturating_add(facts.tolerance);
            broken.then(|| end.max(u64::try_from(due).unwrap_or(0)))
        });
        simulator.late_ends = ends.collect();
        true
    }

    /// The rule holds for all batches again.
    pub(crate) fn accept_none_late(&mut self) {
        self.simulator.late_ends.fill(None);
    }

    /// The smallest number of workers in `low..=high` that satisfies the rule, to one part in
    /// `precision`, and what one less would break; `high` if none does.
    pub(crate) fn least(
        &mut self,
        at: Place,
        (mut low, mut high): (usize, usize),
        precision: usize,
        hint: Option<usize>,
        capacity: impl Fn(usize) -> Capacity,
    ) -> (usize, Option<Violation>) {
        let mut bound = None;
        let mut satisfies = |workers| match self.attempt(at, capacity(workers)) {
            Ok(()) => true,
            Err(violation) => {
                bound = Some(violation);
                false
            }
        };
        if let Some(hint) = hint.filter(|hint| (low..high).contains(hint)) {
            (low, high) = gallop(hint, (low, high), hint / precision, &mut satisfies);
        }
        while high - low > high / precision {
            let workers = low + (high - low) / 2;
            if satisfies(workers) {
                high = workers;
            } else {
                low = workers + 1;
            }
        }
        self.capacities[at.pool] = capacity(high);
        (high, bound)
    }
}

/// Brackets what is searched, from near the hint outward: where nothing has changed two runs do.
fn gallop(
    hint: usize,
    (mut low, mut high): (usize, usize),
    step: usize,
    satisfies: &mut impl FnMut(usize) -> bool,
) -> (usize, usize) {
    let mut step = step.max(1);
    if satisfies(hint) {
        high = hint;
        while low < high {
            let less = high.saturating_sub(step).max(low);
            if !satisfies(less) {
                return (less + 1, high);
            }
            high = less;
            step *= 2;
        }
    } else {
        low = hint + 1;
        while low + step < high {
            if satisfies(low + step) {
                return (low, low + step);
            }
            low += step + 1;
            step *= 2;
        }
    }
    (low, high)
}

/// Algorithm 1 as published: each pool on its own, dear ones first, the others unlimited until
/// their turn; from 1 to as many workers as requests that take part.
#[must_use]
pub fn search(problem: &Problem, rule: &Rule) -> Vec<usize> {
    let mut search = Search::new(problem, rule);
    let mut found = vec![0; problem.pools.len()];
    for at in search.places() {
        let high = search.participants(at.pool);
        search.enter(at);
        found[at.pool] = search.least(at, (1.min(high), high), usize::MAX, None, Capacity::of).0;
    }
    found
}
