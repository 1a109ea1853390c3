//! A worker and the leases in its hand, all of one tenant: it runs them one at a time, in the order
//! granted.
//!
//! Owned by the scheduler. The first in hand, the head, is taken to be running. A cancelled head
//! stays as abandoned until its answer or its deadline: a worker cannot stop in the middle of a
//! stage, and what is granted behind it would seem to run while it does not.

use std::collections::VecDeque;
use std::sync::Arc;

use assay_model::id::{LeaseId, RequestId, TenantId, WorkerId};
use assay_model::time::Micros;

use crate::config::Config;
use crate::division::Hand;
use crate::pool::{Offer, Pool};
use crate::timer::{Due, Timers};

#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) lease: LeaseId,
    pub(crate) request: RequestId,
    pub(crate) tenant: TenantId,
    pub(crate) stage: usize,
    pub(crate) granted: Micros,
    pub(crate) timeout: Micros,
    /// `None`: nothing like it was seen to run yet.
    pub(crate) expected: Option<Micros>,
    /// Its request has ended without it.
    pub(crate) abandoned: bool,
}

#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) pool: Arc<str>,
    pub(crate) draining: bool,
    in_hand_max: usize,
    hand: VecDeque<Held>,
    /// When the head became head.
    head_since: Micros,
    /// Since when the hand is empty, if it is.
    idle_since: Micros,
    /// The head runs for so long that nothing may wait behind it.
    stalled: bool,
    /// Of those in hand: the sum of what is known, and how many are not.
    expected: Micros,
    unknown: usize,
    /// Its entries in the pool and among the timers.
    serves: Option<TenantId>,
    offer: Option<Offer>,
    due: Option<Micros>,
}

/// What a worker's head calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overrun {
    None,
    Stalled,
    PastDeadline,
}

impl Worker {
    pub(crate) fn new(id: WorkerId, pool: Arc<str>, in_hand_max: usize, now: Micros) -> Self {
        Self {
            id,
            pool,
            draining: false,
            in_hand_max: in_hand_max.max(1),
            hand: VecDeque::new(),
            head_since: Micros::ZERO,
            idle_since: now,
            stalled: false,
            expected: Micros::ZERO,
            unknown: 0,
            serves: None,
            offer: None,
            due: None,
        }
    }

    pub(crate) fn hand(&self) -> &VecDeque<Held> {
        &self.hand
    }

    pub(crate) fn hold(&mut self, held: Held, now: Micros) {
        if self.hand.is_empty() {
            self.head_since = now;
        }
        match held.expected {
            Some(expected) => self.expected = self.expected + expected,
            None => self.unknown += 1,
        }
        self.hand.push_back(held);
    }

    /// Takes the lease out of the hand; `None` when it is not in it.
    pub(crate) fn release(&mut self, lease: LeaseId, now: Micros) -> Option<Held> {
        let at = self.hand.iter().position(|held| held.lease == lease)?;
        let held = self.hand.remove(at)?;
        self.forget(&held);
        if at == 0 {
            self.head_since = now;
            self.stalled = false;
        }
        if self.hand.is_empty() {
            self.idle_since = now;
        }
        Some(held)
    }

    /// The request has ended: its lease is taken out of the hand, or abandoned where it runs.
    /// Returns a lease to revoke.
    pub(crate) fn abandon(&mut self, request: RequestId) -> Option<LeaseId> {
        let at = self.hand.iter().position(|held| held.request == request && !held.abandoned)?;
        if at == 0 {
            self.hand[0].abandoned = true;
            return None;
        }
        let held = self.hand.remove(at)?;
        self.forget(&held);
        Some(held.lease)
    }

    /// Marks the head as stalled and gives up those behind it, in their order.
    pub(crate) fn stall(&mut self) -> Vec<Held> {
        self.stalled = true;
        let behind: Vec<Held> = self.hand.drain(1..).collect();
        for held in &behind {
            self.forget(held);
        }
        behind
    }

    pub(crate) fn overrun(&self, config: &Config, now: Micros) -> Overrun {
        if self.deadline(config).is_some_and(|at| at <= now) {
            Overrun::PastDeadline
        } else if self.stalls_at(config).is_some_and(|at| at <= now) {
            Overrun::Stalled
        } else {
            Overrun::None
        }
    }

    /// It finishes what is in its hand and gets nothing more.
    pub(crate) fn drain(&mut self, config: &Config, pool: &mut Pool, timers: &mut Timers) {
        if !self.draining {
            self.draining = true;
            pool.draining += 1;
        }
        self.settle(config, pool, timers);
    }

    /// How far the head has run.
    pub(crate) fn running(&self, now: Micros) -> Option<(&Held, Micros)> {
        Some((self.hand.front()?, now.since(self.head_since)))
    }

    /// Brings its entries in the pool and among the timers up to date; call it after each change.
    pub(crate) fn settle(&mut self, config: &Config, pool: &mut Pool, timers: &mut Timers) {
        let serves = self.hand.front().map(|held| held.tenant);
        let offer = self.next_offer(config.in_hand_max);
        if self.serves == serves {
            pool.replace_offer(self.offer, offer);
        } else {
            // Its hand stands with the tenant that it serves.
            pool.replace_offer(self.offer, None);
            pool.division.replace_served(self.serves, serves);
            pool.replace_offer(None, offer);
        }
        self.serves = serves;
        self.offer = offer;
        let dues = [self.deadline(config), self.stalls_at(config)];
        let due = dues.into_iter().flatten().min();
        timers.replace(Due::Worker(self.id), self.due, due);
        self.due = due;
    }

    /// Removes its entries for good and hands over what it held.
    pub(crate) fn leave(self, pool: &mut Pool, timers: &mut Timers) -> VecDeque<Held> {
        pool.replace_offer(self.offer, None);
        pool.division.replace_served(self.serves, None);
        timers.replace(Due::Worker(self.id), self.due, None);
        self.hand
    }

    fn forget(&mut self, held: &Held) {
        match held.expected {
            Some(expected) => self.expected = self.expected - expected,
            None => self.unknown -= 1,
        }
    }

    fn next_offer(&self, in_hand_max: Micros) -> Option<Offer> {
        let leases = self.hand.len();
        let room = leases < self.in_hand_max
            && !self.stalled
            && self.unknown == 0
            && self.expected < in_hand_max;
        let free = !self.draining && (leases == 0 || room);
        let (worker, expected) = (self.id, self.expected);
        free.then(|| match self.hand.front() {
            None => Offer::Idle { since: self.idle_since, worker },
            Some(head) => {
                Offer::Hand { tenant: head.tenant, hand: Hand { expected, leases, worker } }
            }
        })
    }

    fn deadline(&self, config: &Config) -> Option<Micros> {
        let head = self.hand.front()?;
        Some(self.head_since + head.timeout + config.lease_grace)
    }

    fn stalls_at(&self, config: &Config) -> Option<Micros> {
        let concerned =
            !self.stalled && !self.hand.is_empty() && (self.hand.len() > 1 || self.offer.is_some());
        concerned.then_some(self.head_since + config.in_hand_stall)
    }
}
