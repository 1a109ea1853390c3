//! Starts that have no place yet, for people and for the planner.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::time::Micros;

use super::{FleetState, Phase};

/// The starts of a pool that wait for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingStarts {
    pub workers: usize,
    pub reason: String,
    /// The time since which the first of them has waited.
    pub since: Micros,
}

impl FleetState {
    /// The starts of the pool that have no place yet, by the reason, the most common one first.
    pub(crate) fn waiting(&self, pool: &str) -> Vec<WaitingStarts> {
        let mut reasons: BTreeMap<&str, (usize, Micros)> = BTreeMap::new();
        for (_, (why, since)) in self.without_place().filter(|(of, _)| ***of == *pool) {
            let (workers, first) = reasons.entry(why).or_insert((0, *since));
            *workers += 1;
            *first = (*first).min(*since);
        }
        let waiting = reasons.into_iter().map(|(reason, (workers, since))| WaitingStarts {
            workers,
            reason: reason.to_owned(),
            since,
        });
        let mut waiting: Vec<WaitingStarts> = waiting.collect();
        waiting.sort_by_key(|waiting| Reverse(waiting.workers));
        waiting
    }

    /// The number of starts that have no place yet, of the pools that have any.
    pub(crate) fn unplaced(&self) -> BTreeMap<Arc<str>, usize> {
        let mut unplaced = BTreeMap::new();
        self.without_place()
            .for_each(|(pool, _)| *unplaced.entry(Arc::clone(pool)).or_default() += 1);
        unplaced
    }

    /// The pool of each start that waits for a place, the reason and since when.
    fn without_place(&self) -> impl Iterator<Item = (&Arc<str>, &(String, Micros))> {
        let asked = self.workers.values().filter(|worker| worker.phase == Phase::Asked);
        asked.filter_map(|worker| Some((&worker.pool, worker.waiting.as_ref()?)))
    }
}
