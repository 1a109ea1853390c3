//! Starts that have no place yet, for people and for the planner.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::TicketId;
use assay_core::time::Micros;

use super::{Effect, FleetState, FleetWorker, Phase};
use crate::launcher::Start;
use crate::ticket::Ticket;

/// The starts of a pool that wait for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingStarts {
    pub workers: usize,
    pub reason: String,
    /// The time since which the first of them has waited.
    pub since: Micros,
}

impl FleetState {
    /// Starts of which the launcher hears later, and the reason for people where it is none of the pool's own.
    pub(super) fn withhold(
        &mut self,
        now: Micros,
        pool: &Arc<str>,
        count: usize,
        why: Option<&str>,
    ) -> Vec<TicketId> {
        let withhold = |_| {
            let waiting = why.map(|why| (why.to_owned(), now));
            let new = FleetWorker::new(Ticket::generate(), pool, now);
            let ticket = new.ticket.id;
            self.workers.insert(ticket, FleetWorker { phase: Phase::Withheld, waiting, ..new });
            ticket
        };
        (0..count).map(withhold).collect()
    }

    /// The pause of these starts of one pool is over.
    pub(crate) fn release(&mut self, tickets: &[TicketId]) -> Option<Effect> {
        let mut starts = Vec::new();
        for ticket in tickets {
            let Some(worker) = self.workers.get_mut(ticket) else { continue };
            if worker.phase == Phase::Withheld {
                worker.phase = Phase::Asked;
                worker.level = self.pools.get(&worker.pool).map_or(0, |starts| starts.level);
                let (ticket, pool) = (worker.ticket.clone(), Arc::clone(&worker.pool));
                starts.push(Start { ticket, pool });
            }
        }
        (!starts.is_empty()).then_some(Effect::Start(starts))
    }

    /// Its launcher has no place for the worker yet, for this reason.
    pub(super) fn waits(&mut self, now: Micros, ticket: TicketId, why: String) {
        let worker = self.workers.get_mut(&ticket);
        if let Some(worker) = worker.filter(|worker| worker.phase == Phase::Asked) {
            let since = worker.waiting.as_ref().map_or(now, |(_, since)| *since);
            worker.waiting = Some((why, since));
        }
    }

    /// The starts of the pool that have no place yet, by the reason, the most common one first.
    pub(crate) fn waiting(&self, pool: &str) -> Vec<WaitingStarts> {
        let of_pool = self.without_place().filter(|(of, _)| ***of == *pool);
        let reasons = by_reason(of_pool.map(|(_, why)| why)).into_iter();
        reasons.map(|(reason, workers, since)| WaitingStarts { workers, reason, since }).collect()
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
        let asked = self
            .workers
            .values()
            .filter(|worker| matches!(worker.phase, Phase::Withheld | Phase::Asked));
        asked.filter_map(|worker| Some((&worker.pool, worker.waiting.as_ref()?)))
    }
}

/// How many there are of each reason, and the first time of it; the most common reason first.
pub(super) fn by_reason<'a>(
    reasons: impl Iterator<Item = &'a (String, Micros)>,
) -> Vec<(String, usize, Micros)> {
    let mut counts: BTreeMap<&str, (usize, Micros)> = BTreeMap::new();
    for (why, since) in reasons {
        let (workers, first) = counts.entry(why).or_insert((0, *since));
        *workers += 1;
        *first = (*first).min(*since);
    }
    let counts = counts.into_iter();
    let mut counts: Vec<_> =
        counts.map(|(why, (workers, since))| (why.to_owned(), workers, since)).collect();
    counts.sort_by_key(|(_, workers, _)| Reverse(*workers));
    counts
}
