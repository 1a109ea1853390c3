//! A kind of worker: what waits for it, and which of its workers take more.
//!
//! Owned by the scheduler. A pool is there while it has workers, something waits for it, or it has a plan.

use std::collections::{BTreeSet, VecDeque};

use assay_model::id::{TenantId, WorkerId};
use assay_model::time::Micros;

use crate::config::Order;
use crate::division::{Division, Hand};
use crate::estimate::Mean;
use crate::scale::PoolPlan;

/// A worker that takes a lease; who is idle is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Since then it has had nothing in hand.
    Idle { since: Micros, worker: WorkerId },
    /// It has room behind leases of this tenant.
    Hand { tenant: TenantId, hand: Hand },
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) division: Division,
    /// Joined, the draining included.
    pub(crate) workers: usize,
    pub(crate) draining: usize,
    /// When each start that was asked for and not answered was asked for; the oldest first.
    pub(crate) starting: VecDeque<Micros>,
    /// How long starts take: a decaying mean.
    pub(crate) startup: Option<Mean>,
    /// `None`: the pool is not elastic.
    pub(crate) plan: Option<PoolPlan>,
    /// Not draining, nothing in hand.
    idle: BTreeSet<WorkerId>,
    /// Of them who has been so for longest comes first.
    idle_since: BTreeSet<(Micros, WorkerId)>,
}

impl Pool {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            division: Division::new(order),
            workers: 0,
            draining: 0,
            starting: VecDeque::new(),
            startup: None,
            plan: None,
            idle: BTreeSet::new(),
            idle_since: BTreeSet::new(),
        }
    }

    /// Which worker gets the next lease, of which tenant. Above the ceiling there is none: a hand
    /// that is filled up again would never be empty, and its worker never stopped.
    pub(crate) fn next_grant(&self) -> Option<(WorkerId, TenantId)> {
        if self.surplus() > 0 {
            return None;
        }
        let idle = self.idle.first().copied().zip(self.division.next());
        idle.or_else(|| self.division.next_refill())
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
            Some(Offer::Hand { tenant, hand }) => self.division.remove_hand(tenant, &hand),
            None => {}
        }
        match new {
            Some(Offer::Idle { since, worker }) => {
                self.idle.insert(worker);
                self.idle_since.insert((since, worker));
            }
            Some(Offer::Hand { tenant, hand }) => self.division.insert_hand(tenant, hand),
            None => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers == 0 && self.division.waiting() == 0 && self.plan.is_none()
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
        self.idle_since.first().copied()
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
