//! A kind of worker: what waits for it, and which of its workers take more.
//!
//! Owned by the scheduler. A pool is there while it has workers or something waits for it.

use std::collections::BTreeSet;

use assay_model::id::WorkerId;
use assay_model::time::Micros;

use crate::config::Order;
use crate::queue::Queue;

/// A worker that takes a lease. In order of preference: idle first, then the shortest hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offer {
    pub(crate) expected: Micros,
    pub(crate) leases: usize,
    pub(crate) worker: WorkerId,
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) queue: Queue,
    pub(crate) workers: usize,
    offers: BTreeSet<Offer>,
}

impl Pool {
    pub(crate) fn new(order: Order) -> Self {
        Self { queue: Queue::new(order), workers: 0, offers: BTreeSet::new() }
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
        }
        if let Some(offer) = new {
            self.offers.insert(offer);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers == 0 && self.queue.len() == 0
    }
}
