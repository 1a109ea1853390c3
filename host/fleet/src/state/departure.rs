//! Workers that will be ended by somebody else than the fleet, such as an eviction.

use assay_core::id::TicketId;
use assay_core::time::Micros;

use super::waiting::by_reason;
use super::{Effect, FleetState, Phase};
use crate::launcher::Stop;

/// The workers of a pool that will be ended for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departures {
    pub workers: usize,
    pub reason: String,
    /// The time at which the first of them was known to leave.
    pub since: Micros,
}

impl FleetState {
    /// The worker will be ended. One that has not joined has failed to start: it would be of no use.
    pub(super) fn leaves(&mut self, now: Micros, ticket: TicketId, why: String) -> Vec<Effect> {
        let Some(worker) = self.workers.get_mut(&ticket) else { return Vec::new() };
        match worker.phase {
            Phase::Asked | Phase::Placed => {
                let error = format!("a worker has to leave before it joined: {why}");
                let failed = self.failed(now, ticket, error);
                [Effect::Stop(ticket, Stop::GiveUp)].into_iter().chain(failed).collect()
            }
            Phase::Came | Phase::Joined => {
                worker.leaving.get_or_insert((why, now));
                Vec::new()
            }
            Phase::Withheld | Phase::Overdue(_) | Phase::Failed | Phase::Reported => Vec::new(),
            Phase::GivenUp | Phase::Leaving => Vec::new(),
        }
    }

    pub(crate) fn is_leaving(&self, ticket: TicketId) -> bool {
        self.workers.get(&ticket).is_some_and(|worker| worker.leaving.is_some())
    }

    /// The workers of the pool that will be ended, by the reason, the most common one first.
    pub(crate) fn departures(&self, pool: &str) -> Vec<Departures> {
        let of_pool = self.workers.values().filter(|worker| &*worker.pool == pool);
        let reasons = by_reason(of_pool.filter_map(|worker| worker.leaving.as_ref())).into_iter();
        reasons.map(|(reason, workers, since)| Departures { workers, reason, since }).collect()
    }
}
