//! The decision about one pool: the search of algorithm 1, and its result with the reason.

use std::sync::Arc;

use crate::basis::Basis;
use crate::pool_config::PoolConfig;
use crate::problem::Problem;
use crate::reason::{Bound, Reason};
use crate::rule::Violation;
use crate::search::{Place, Search, Supply};
use crate::simulate::Capacity;

/// A search that starts from the last plan's number stops within one part in `PRECISION`. The first search has none, and
/// stops earlier: the next plan comes soon, and starts from its result.
const PRECISION: usize = 100;
const FIRST_PRECISION: usize = 32;

/// A batch that is late anyway gets so many times the workers that it needs to be little later: where the forecast errs, it
/// would wait for another start.
const LATE_MARGIN: usize = 2;

/// The numbers of one pool before bounds are applied.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub(crate) hold: usize,
    pub(crate) ceiling: usize,
    pub(crate) zero_queue: usize,
    pub(crate) reason: Reason,
}

impl Decision {
    pub(crate) fn fixed(pool: &PoolConfig) -> Self {
        Self { hold: pool.max, ceiling: pool.max, zero_queue: 0, reason: Reason::Policy }
    }
}

/// A pool whose number of workers a policy decides.
pub(crate) struct PoolTask<'a> {
    pub(crate) place: Place,
    pub(crate) config: &'a PoolConfig,
    pub(crate) supply: Supply,
    /// The last plan's number of workers, where the search starts.
    pub(crate) hint: Option<usize>,
    /// The basis of each batch of the problem.
    pub(crate) bases: &'a [Arc<Basis>],
}

/// Algorithm 1 for one pool, from what is known.
pub(crate) fn search_pool(search: &mut Search<'_>, task: &PoolTask<'_>) -> Decision {
    let PoolTask { place, config: pool, ref supply, hint, .. } = *task;
    let zero_queue = search.zero_queue(place.pool);
    let high = zero_queue.min(pool.max);
    if high == 0 {
        let reason =
            if zero_queue == 0 { Reason::Idle } else { Reason::Maximum { wanted: zero_queue } };
        return Decision { hold: 0, ceiling: 0, zero_queue, reason };
    }
    search.enter(place);
    let precision = if hint.is_some() { PRECISION } else { FIRST_PRECISION };
    let (mut workers, mut bound) =
        search.least(place, (1, high), precision, hint, |workers| supply.capacity(workers));
    let late = workers == high
        && supply.present < high
        && search.attempt(place, supply.capacity(high)).is_err();
    if late {
        // No number of starts can be in time for what is due by then: plan as if they could.
        (workers, bound) = search.least(place, (1, high), precision, hint, Capacity::of);
        // Starts without a place cost nothing, so that there is no reason to ask for fewer.
        if supply.unplaced == 0 && search.accept_late(place, supply.capacity(high)) {
            let capacity = |workers| supply.capacity(workers);
            let (late, late_bound) = search.least(place, (1, high), precision, hint, capacity);
            search.accept_none_late();
            // Workers that come late may have to be more than those that were there at once: they find more that waits.
            let wanted = (LATE_MARGIN * late).min(workers).max(late);
            if wanted != workers {
                (workers, bound) = (wanted, late_bound);
            }
        }
        search.capacities[place.pool] = Capacity::of(workers);
        if supply.unplaced > 0 {
            // The other pools need no workers for what cannot be had here.
            search.capacities[place.pool] = supply.capacity(workers);
        }
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
