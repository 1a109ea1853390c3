//! A read-only view of single workers, for people: the leases that each holds, and the running one.
//!
//! It is taken between two steps and decides nothing.

use std::sync::Arc;

use assay_core::id::{RequestId, WorkerId};
use assay_core::time::Micros;

use crate::sched::Sched;

/// A worker that has joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerView {
    /// The worker.
    pub id: WorkerId,
    /// The pool that it serves.
    pub pool: Arc<str>,
    /// Whether it gets no more leases.
    pub draining: bool,
    /// The number of its leases, that of a request that ended without it included.
    pub leased: usize,
    /// The lease that it runs; `None` if it has none.
    pub running: Option<RunningLease>,
}

/// The lease that is taken to be running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningLease {
    /// The request.
    pub request: RequestId,
    /// The stage, from 0.
    pub stage: usize,
    /// The time at which it is taken to have begun.
    pub since: Micros,
}

impl Sched {
    /// A view of each worker, by id. The cost is O(workers).
    #[must_use]
    pub fn worker_views(&self) -> Vec<WorkerView> {
        let watched = self.workers.values().map(|worker| WorkerView {
            id: worker.id,
            pool: Arc::clone(&worker.pool),
            draining: worker.draining,
            leased: worker.leases().len(),
            running: worker.running(self.now).map(|(held, elapsed)| RunningLease {
                request: held.request,
                stage: held.stage,
                since: self.now - elapsed,
            }),
        });
        watched.collect()
    }
}
