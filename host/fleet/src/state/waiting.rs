//! Starts that have no place yet, for people.

use std::cmp::Reverse;
use std::collections::BTreeMap;

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
        for worker in self.workers.values().filter(|worker| &*worker.pool == pool) {
            let waiting = worker.waiting.as_ref().filter(|_| worker.phase == Phase::Asked);
            if let Some((why, since)) = waiting {
                let (workers, first) = reasons.entry(why).or_insert((0, *since));
                *workers += 1;
                *first = (*first).min(*since);
            }
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
}
