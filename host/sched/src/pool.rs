//! A kind of worker: what waits for it, and which of its workers take more.
//!
//! Owned by the scheduler. A pool is there while it has workers, something waits for it, or it has a plan.

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
    /// With nothing in hand: since when.
    pub(crate) idle_since: Option<Micros>,
}

impl Offer {
    fn idle(self) -> Option<(Micros, WorkerId)> {
        self.idle_since.map(|since| (since, self.worker))
    }
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) queue: Queue,
    /// Joined, the draining included.
    pub(crate) workers: usize,
    pub(crate) draining: usize,
    /// When each start that was asked for and not answered was asked for; the oldest first.
    pub(crate) starting: VecDeque<Micros>,
    /// How long starts take: a decaying mean.
    pub(crate) startup: Option<Mean>,
    /// `None`: the pool is not elastic.
    pub(crate) plan: Option<PoolPlan>,
    offers: BTreeSet<Offer>,
    /// Not draining, nothing in hand; who has been so for longest comes first.
    idle: BTreeSet<(Micros, WorkerId)>,
}

impl Pool {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            queue: Queue::new(order),
            workers: 0,
            draining: 0,
            starting: VecDeque::new(),
            startup: None,
            plan: None,
            offers: BTreeSet::new(),
            idle: BTreeSet::new(),
        }
    }

    /// Above the ceiling there is none: a hand that is filled up again would never be empty, and
    /// its worker never stopped.
    pub(crate) fn best_offer(&self) -> Option<WorkerId> {
        if self.surplus() > 0 {
            return None;
        }
        self.offers.first().map(|offer| offer.worker)
    }

    pub(crate) fn replace_offer(&mut self, old: Option<Offer>, new: Option<Offer>) {
        if old == new {
            return;
        }
        if let Some(offer) = old {
            self.offers.remove(&offer);
            offer.idle().map(|idle| self.idle.remove(&idle));
        }
        if let Some(offer) = new {
            self.offers.insert(offer);
            offer.idle().map(|idle| self.idle.insert(idle));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers == 0 && self.queue.len() == 0 && self.plan.is_none()
    }

    /// Joined and not draining.
    pub(crate) fn serving(&self) -> usize {
        self.workers - self.draining
    }

    /// Of them those with nothing in hand.
    pub(crate) fn idle(&self) -> usize {
        self.idle.len()
    }

    pub(crate) fn longest_idle(&self) -> Option<(Micros, WorkerId)> {
        self.idle.first().copied()
    }

    /// How many workers serve above the ceiling.
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
