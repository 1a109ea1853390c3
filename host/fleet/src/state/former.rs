//! Workers that outlive a server: those that the server before this one had, and those that the next one has taken over.

use std::collections::BTreeSet;
use std::sync::Arc;

use assay_core::id::TicketId;
use assay_core::limits;
use assay_core::time::Micros;

use super::{Effect, FleetState, FleetWorker, Phase};

/// The time for which a worker of the server before may come again.
const RETURN_MAX: Micros = Micros::from_secs(limits::WORKERS_RETURN_SECONDS_MAX);

/// A worker of the server before this one that has not come again.
pub(super) struct FormerWorker {
    pub(super) pool: Arc<str>,
    found_at: Micros,
}

impl FleetState {
    /// The launcher of these pools cannot say yet which workers the server before had, for this reason: until it can, its
    /// pools get no new ones, which might be too many.
    pub(crate) fn cannot_find(&mut self, pools: &BTreeSet<Arc<str>>, why: &str) {
        self.unfound.extend(pools.iter().map(|pool| (Arc::clone(pool), why.to_owned())));
    }

    /// Workers of the server before this one, with their pools: they come again with the certificates that they have. They
    /// take the places of starts that waited for it.
    pub(crate) fn find(
        &mut self,
        now: Micros,
        pools: &BTreeSet<Arc<str>>,
        workers: Vec<(TicketId, Arc<str>)>,
    ) -> Vec<Effect> {
        let former = |(ticket, pool)| (ticket, FormerWorker { pool, found_at: now });
        self.found.extend(workers.into_iter().map(former));
        let found = pools.iter().filter(|pool| self.unfound.remove(*pool).is_some());
        let found: Vec<&Arc<str>> = found.collect();
        let withheld = |pool: &Arc<str>, worker: &FleetWorker| {
            worker.phase == Phase::Withheld && worker.pool == *pool
        };
        let starts = found.into_iter().flat_map(|pool| {
            let count = self.workers.extract_if(.., |_, worker| withheld(pool, worker)).count();
            self.start(now, pool, count)
        });
        starts.collect()
    }

    /// Whether the launcher of these pools cannot say yet which workers the server before had.
    pub(crate) fn is_unfound(&self, pools: &BTreeSet<Arc<str>>) -> bool {
        pools.iter().any(|pool| self.unfound.contains_key(pool))
    }

    /// From now on workers of other machines can connect.
    pub(crate) fn listens(&mut self, now: Micros) {
        self.listens_since = Some(now);
    }

    /// From now on an earlier server's worker that had its time to come again, and has not, is one that nobody asked for.
    pub(crate) fn forget_found(&mut self, now: Micros) {
        let Some(since) = self.listens_since else { return };
        self.found.retain(|_, former| now.since(since.max(former.found_at)) < RETURN_MAX);
    }

    /// Another server has the workers of these pools: forgets those that were started and returns them. None is started any
    /// more.
    pub(crate) fn hand_over(&mut self, is_another_servers: impl Fn(&str) -> bool) -> Vec<TicketId> {
        self.stopping = true;
        let left = self
            .workers
            .extract_if(.., |_, worker| !worker.came && is_another_servers(&worker.pool));
        left.map(|(ticket, _)| ticket).collect()
    }
}
