//! What people see of single workers: who has what in hand, and since when its head runs.
//!
//! Read between two steps; decides nothing.

use std::sync::Arc;

use assay_model::id::{RequestId, WorkerId};
use assay_model::time::Micros;

use crate::sched::Sched;

/// A worker that has joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerWatched {
    pub id: WorkerId,
    pub pool: Arc<str>,
    pub draining: bool,
    /// Leases, that of a request that ended without it included.
    pub in_hand: usize,
    pub running: Option<HeadWatched>,
}

/// What is taken to be running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadWatched {
    pub request: RequestId,
    pub stage: usize,
    pub since: Micros,
}

impl Sched {
    /// By id: O(workers).
    #[must_use]
    pub fn watched(&self) -> Vec<WorkerWatched> {
        let watched = self.workers.values().map(|worker| WorkerWatched {
            id: worker.id,
            pool: Arc::clone(&worker.pool),
            draining: worker.draining,
            in_hand: worker.hand().len(),
            running: worker.running(self.now).map(|(held, elapsed)| HeadWatched {
                request: held.request,
                stage: held.stage,
                since: self.now - elapsed,
            }),
        });
        watched.collect()
    }
}
