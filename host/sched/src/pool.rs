//! A pool: the requests that wait for its workers, and the workers that take leases.
//!
//! Owned by the scheduler. A pool is kept while it has workers, waiting requests or a plan.

use std::collections::{BTreeSet, VecDeque};

use assay_core::id::{TenantId, WorkerId};
use assay_core::time::Micros;

use crate::discipline::Discipline;
use crate::estimate::Mean;
use crate::fair_queue::{FairQueue, Prefetcher};
use crate::scale::PoolPlan;

/// A worker that takes a lease; idle workers are preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// It has had no lease since this time.
    Idle { since: Micros, worker: WorkerId },
    /// It may prefetch more leases of the tenant that it serves.
    Prefetch { tenant: TenantId, prefetcher: Prefetcher },
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) fair_queue: FairQueue,
    /// Workers that have joined, the draining ones included.
    pub(crate) workers: usize,
    pub(crate) draining: usize,
    /// The times at which the unanswered starts were requested, the oldest first.
    pub(crate) starting: VecDeque<Micros>,
    /// The duration of a start, as a decaying mean.
    pub(crate) startup: Option<Mean>,
    /// `None`: the pool is not elastic.
    pub(crate) plan: Option<PoolPlan>,
    /// Workers without a lease that are not draining.
    idle: BTreeSet<WorkerId>,
    /// The same workers; the one that has been idle for longest comes first.
    idle_since: BTreeSet<(Micros, WorkerId)>,
}

impl Pool {
    pub(crate) fn new(discipline: Discipline) -> Self {
        Self {
            fair_queue: FairQueue::new(discipline),
            workers: 0,
            draining: 0,
            starting: VecDeque::new(),
            startup: None,
            plan: None,
            idle: BTreeSet::new(),
            idle_since: BTreeSet::new(),
        }
    }

    /// The worker that gets the next lease, and the tenant whose request it is. Above the ceiling there
    /// is none: a worker that is topped up would never be idle and so never be stopped.
    pub(crate) fn next_grant(&self) -> Option<(WorkerId, TenantId)> {
        if self.surplus() > 0 {
            return None;
        }
        let idle = self.idle.first().copied().zip(self.fair_queue.next_tenant());
        idle.or_else(|| self.fair_queue.next_top_up())
    }

    pub(crate) fn replace_offer(&mut self, old: Option<Offer>, new: Option<Offer>) {
        if old == new {
            return;
        }
        match old {
            Some(Offer::Idle { since, worker }) => {
                self.idle.remove(&worker);
                self.idle_since.remove(&(since, worker));
            }
            Some(Offer::Prefetch { tenant, prefetcher }) => {
                self.fair_queue.remove_prefetcher(tenant, &prefetcher)
            }
            None => {}
        }
        match new {
            Some(Offer::Idle { since, worker }) => {
                self.idle.insert(worker);
                self.idle_since.insert((since, worker));
            }
            Some(Offer::Prefetch { tenant, prefetcher }) => {
                self.fair_queue.insert_prefetcher(tenant, prefetcher)
            }
            None => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers == 0 && self.fair_queue.waiting() == 0 && self.plan.is_none()
    }

    /// The number of workers that have joined and are not draining.
    pub(crate) fn serving(&self) -> usize {
        self.workers - self.draining
    }

    /// The number of these workers that have no lease.
    pub(crate) fn idle(&self) -> usize {
        self.idle.len()
    }

    pub(crate) fn longest_idle(&self) -> Option<(Micros, WorkerId)> {
        self.idle_since.first().copied()
    }

    /// The number of workers above the plan's ceiling.
    pub(crate) fn surplus(&self) -> usize {
        let plan = self.plan.as_ref();
        plan.map_or(0, |plan| self.serving().saturating_sub(plan.ceiling))
    }

    /// A worker joined: it answers the oldest start.
    pub(crate) fn joined(&mut self, now: Micros) {
        self.workers += 1;
        let Some(asked) = self.starting.pop_front() else { return };
        match &mut self.startup {
            Some(mean) => mean.observe(now.since(asked)),
            unseen => *unseen = Some(Mean::first(now.since(asked))),
        }
    }
}
