//! A kind of worker: what waits for it, and which of its workers take more.
//!
//! Owned by the scheduler. A pool is there while it has workers or something waits for it.

use std::collections::{BTreeSet, VecDeque};

use assay_model::id::WorkerId;
use assay_model::time::Micros;

use crate::config::Order;
use crate::estimate::Mean;
use crate::queue::Queue;
use crate::scale::PoolPlan;

/// A worker that takes a lease. In order of preference: idle first, then the shortest hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offer {
    pub(crate) expected: Micros,
    pub(crate) leases: usize,
    pub(crate) worker: WorkerId,
}

impl Offer {
    fn is_idle(self) -> bool {
        self.leases == 0
    }
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) queue: Queue,
    /// Joined, the draining included.
    pub(crate) workers: usize,
    pub(crate) draining: usize,
    /// Not draining, nothing in hand.
    pub(crate) idle: usize,
    /// When each start that was asked for and not answered was asked for; the oldest first.
    pub(crate) starting: VecDeque<Micros>,
    /// How long starts take: a decaying mean.
    pub(crate) startup: Option<Mean>,
    /// `None`: the pool is not elastic.
    pub(crate) plan: Option<PoolPlan>,
    offers: BTreeSet<Offer>,
}

impl Pool {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            queue: Queue::new(order),
            workers: 0,
            draining: 0,
            idle: 0,
            starting: VecDeque::new(),
            startup: None,
            plan: None,
            offers: BTreeSet::new(),
        }
    }

    pub(crate) fn best_offer(&self) -> Option<WorkerId> {
        self.offers.first().map(|offer| offer.worker)
    }

    pub(crate) fn replace_offer(&mut self, old: Option<Offer>, new: Option<Offer>) {
        if old == new {
            return;
        }
        if let Some(offer) = old {
            self.offers.remove(&offer);
            self.idle -= usize::from(offer.is_idle());
        }
        if let Some(offer) = new {
            self.offers.insert(offer);
            self.idle += usize::from(offer.is_idle());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers == 0 && self.queue.len() == 0 && self.plan.is_none()
    }

    /// The one that got its last work longest ago, as work goes to the lowest id first.
    pub(crate) fn last_idle(&self) -> Option<WorkerId> {
        let behind = Offer { expected: Micros::ZERO, leases: 1, worker: WorkerId(0) };
        self.offers.range(..behind).next_back().map(|offer| offer.worker)
    }

    /// How many workers there are to be, those that start included; `None` if nobody planned.
    pub(crate) fn target(&self) -> Option<usize> {
        let plan = self.plan.as_ref()?;
        let busy = self.workers - self.draining - self.idle;
        Some(plan.hold.max(plan.ceiling.min(busy + self.queue.len())))
    }

    pub(crate) fn linger(&self) -> Option<Micros> {
        self.plan.as_ref().map(|plan| plan.linger)
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
