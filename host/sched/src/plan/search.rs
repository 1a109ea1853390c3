//! Algorithm 1: the fewest workers of each pool that satisfy the rule, dear pools first.

use assay_model::time::Micros;

use super::problem::Problem;
use super::rule::{Rule, Violation};
use super::simulate::{Capacity, Simulator, Until};
use super::workload::Arrival;

/// Which workers there are when.
#[derive(Debug, Clone, Default)]
pub(super) struct Supply {
    pub(super) present: usize,
    /// How long until each that starts is there, ascending.
    pub(super) starting: Vec<Micros>,
    pub(super) startup: Micros,
}

impl Supply {
    /// The capacity over time that asking for this many workers now leads to.
    pub(super) fn capacity(&self, workers: usize) -> Capacity {
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
pub(super) struct Place {
    pub(super) block: usize,
    pub(super) pool: usize,
}

pub(super) struct Search<'a> {
    pub(super) simulator: Simulator<'a>,
    pub(super) capacities: Vec<Capacity>,
    arrivals: Vec<Vec<Arrival>>,
    pub(super) simulations: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(problem: &'a Problem, rule: &'a Rule) -> Self {
        let simulator = Simulator::new(problem, rule);
        let capacities = vec![Capacity::default(); problem.pools.len()];
        Self { simulator, capacities, arrivals: Vec::new(), simulations: 0 }
    }

    /// The most workers that each pool would use if no request ever queued.
    pub(super) fn zero_queue(&mut self) -> Vec<usize> {
        let unlimited = vec![Capacity::default(); self.capacities.len()];
        let first = self.simulator.workload.first.clone();
        self.simulations += 1;
        // Without queues nothing breaks the rule.
        let _ = self.simulator.run(0, &first, &unlimited, Until::End);
        let peak = |usage: &Vec<(u64, u32)>| usage.iter().map(|(_, busy)| *busy).max();
        self.simulator.usage.iter().map(|usage| peak(usage).unwrap_or(0) as usize).collect()
    }

    /// The pools in the order of their cost, the dear ones first.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for (block, pools) in self.simulator.workload.blocks.iter().enumerate() {
            places.extend(pools.iter().map(|&pool| Place { block, pool }));
        }
        let pools = &self.simulator.problem.pools;
        places.sort_by(|a, b| pools[b.pool].cost.total_cmp(&pools[a.pool].cost));
        places
    }

    /// How many requests take part in a pool.
    pub(super) fn participants(&self, pool: usize) -> usize {
        let problem = self.simulator.problem;
        let takes_part = |&index: &usize| {
            let request = &problem.requests[index];
            let left = problem.flow(index).stages.iter().zip(problem.service(index));
            let reached = left.skip(request.stage).take_while(|(_, time)| **time > Micros::ZERO);
            reached.into_iter().any(|(stage, _)| stage.pool == pool)
        };
        (0..problem.requests.len()).filter(takes_part).count()
    }

    /// From now on this pool is searched, with those before it as they are.
    pub(super) fn enter(&mut self, at: Place) {
        self.arrivals.clone_from(&self.simulator.workload.first);
        for before in 0..at.block {
            self.simulator.pass_on(before, &self.capacities, &mut self.arrivals);
        }
    }

    /// Tries a capacity for the pool that was entered.
    pub(super) fn attempt(&mut self, at: Place, capacity: Capacity) -> Result<(), Violation> {
        self.simulations += 1;
        self.capacities[at.pool] = capacity;
        self.simulator.run(at.block, &self.arrivals, &self.capacities, Until::Violation)
    }

    /// The smallest number of workers in `low..=high` that satisfies the rule, to one part in
    /// `precision`, and what one less would break; `high` if none does.
    pub(super) fn least(
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
            (low, high) = gallop(hint, (low, high), &mut satisfies);
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

/// Brackets what is searched, from near the hint outward.
fn gallop(
    hint: usize,
    (mut low, mut high): (usize, usize),
    satisfies: &mut impl FnMut(usize) -> bool,
) -> (usize, usize) {
    let mut step = (hint / 16).max(1);
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
