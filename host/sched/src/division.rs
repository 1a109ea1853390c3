//! A pool divided among tenants: what waits of each, which workers serve it, and whose turn it is.
//!
//! ```text
//!   idle worker ------> the tenant with the fewest workers for its weight, of those that have
//!        ^              something waiting and are below their bound; ties go by rank
//!        |                                   |
//!        |  its hand is empty                v
//!        +--------------------------- serves that tenant --+
//!                                            ^             |  more of the same tenant, while the
//!                                            +-------------+  worker would come back to it if idle
//! ```
//!
//! Owned by the pool. A worker serves one tenant at a time, so that what is shared is workers, at
//! each moment, however long stages run and however many leases are in a hand; nothing is owed for
//! the past. Shares are whole workers: while a pool has fewer than one for each tenant, ranks decide
//! who is served first. Inside a tenant's part its queue rules. A part is there while something of
//! it waits or a worker serves it.
//!
//! Each change costs O(log tenants), of which a pool sees those that have something there.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::id::{BatchId, RequestId, TenantId, WorkerId};
use assay_model::time::Micros;

use crate::config::Order;
use crate::queue::{Place, Queue, Rank};
use crate::share::{Load, PoolShare};
use crate::snapshot::TenantSnapshot;

/// A hand that has room behind what is in it. The shortest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hand {
    pub(crate) expected: Micros,
    pub(crate) leases: usize,
    pub(crate) worker: WorkerId,
}

/// When it is a tenant's turn. The smaller comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    load: Load,
    /// Of the request that would be next.
    rank: Rank,
    batch: BatchId,
    tenant: TenantId,
}

#[derive(Debug)]
struct Part {
    queue: Queue,
    share: PoolShare,
    /// How many serve it.
    workers: u32,
    /// Of them those whose hand has room.
    hands: BTreeSet<Hand>,
    /// Its entries in the division.
    turn: Option<Turn>,
    refill: Option<Turn>,
    grantable: usize,
}

#[derive(Debug)]
pub(crate) struct Division {
    order: Order,
    parts: BTreeMap<TenantId, Part>,
    entries: Entries,
    waiting: usize,
}

/// What follows from each part.
#[derive(Debug, Default)]
struct Entries {
    /// Of tenants that an idle worker may go to.
    turns: BTreeSet<Turn>,
    /// Of tenants with room in hands: as if one of their workers were idle.
    refills: BTreeSet<Turn>,
    grantable: usize,
}

impl Division {
    pub(crate) fn new(order: Order) -> Self {
        Self { order, parts: BTreeMap::new(), entries: Entries::default(), waiting: 0 }
    }

    /// How many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many of them could have a worker each, if there were enough.
    pub(crate) fn grantable(&self) -> usize {
        self.entries.grantable
    }

    /// Tenants that have a worker.
    pub(crate) fn served(&self) -> impl Iterator<Item = TenantId> {
        let served = self.parts.iter().filter(|(_, part)| part.workers > 0);
        served.map(|(tenant, _)| *tenant)
    }

    /// How many workers serve a tenant.
    pub(crate) fn serving(&self, tenant: TenantId) -> u32 {
        self.parts.get(&tenant).map_or(0, |part| part.workers)
    }

    /// To whom an idle worker goes.
    pub(crate) fn next(&self) -> Option<TenantId> {
        self.entries.turns.first().map(|turn| turn.tenant)
    }

    /// A worker that takes more of the tenant that it serves.
    pub(crate) fn next_refill(&self) -> Option<(WorkerId, TenantId)> {
        let refill = self.entries.refills.first()?;
        // If it is not this tenant's turn, it is no other's with room either.
        let other = self.entries.turns.iter().find(|turn| turn.tenant != refill.tenant);
        if other.is_some_and(|other| other < refill) {
            return None;
        }
        let hand = self.parts[&refill.tenant].hands.first().expect("a refill has a hand");
        Some((hand.worker, refill.tenant))
    }

    /// `share` is asked for a tenant of which nothing waits and that no worker serves.
    pub(crate) fn push(
        &mut self,
        tenant: TenantId,
        request: RequestId,
        place: Place,
        share: impl FnOnce() -> PoolShare,
    ) {
        let part = self.parts.entry(tenant).or_insert_with(|| Part::new(self.order, share()));
        part.queue.push(request, place);
        self.waiting += 1;
        part.arrange(tenant, &mut self.entries);
    }

    /// The next request of a tenant whose turn it is; the worker that gets it is to be counted by
    /// `replace_served` at once.
    pub(crate) fn pop(&mut self, tenant: TenantId) -> RequestId {
        self.waiting -= 1;
        self.change(tenant, |part| part.queue.pop())
            .flatten()
            .expect("whose turn it is has something waiting")
    }

    /// A request that waits here is wanted at another time.
    pub(crate) fn want(&mut self, tenant: TenantId, request: RequestId, place: Place) {
        self.change(tenant, |part| part.queue.want(request, place));
    }

    pub(crate) fn rerank(&mut self, tenant: TenantId, batch: BatchId, rank: Rank) {
        self.change(tenant, |part| part.queue.rerank(batch, rank));
    }

    pub(crate) fn regroup(&mut self, tenant: TenantId, batch: BatchId, group: u32, left: u32) {
        self.change(tenant, |part| part.queue.regroup(batch, group, left));
    }

    pub(crate) fn remove_batch(&mut self, tenant: TenantId, batch: BatchId) {
        let removed = self.change(tenant, |part| {
            let before = part.queue.len();
            part.queue.remove_batch(batch);
            before - part.queue.len()
        });
        self.waiting -= removed.unwrap_or(0);
        self.leave(tenant);
    }

    /// A worker that served `old` serves `new`.
    pub(crate) fn replace_served(&mut self, old: Option<TenantId>, new: Option<TenantId>) {
        if old == new {
            return;
        }
        if let Some(tenant) = new {
            self.change(tenant, |part| part.workers += 1).expect("whom a worker serves is there");
        }
        if let Some(tenant) = old {
            self.change(tenant, |part| part.workers -= 1).expect("whom a worker serves is there");
            self.leave(tenant);
        }
    }

    pub(crate) fn insert_hand(&mut self, tenant: TenantId, hand: Hand) {
        self.change(tenant, |part| part.hands.insert(hand));
    }

    pub(crate) fn remove_hand(&mut self, tenant: TenantId, hand: &Hand) {
        self.change(tenant, |part| part.hands.remove(hand));
    }

    /// The tenant's share has changed.
    pub(crate) fn share(&mut self, tenant: TenantId, share: PoolShare) {
        self.change(tenant, |part| part.share = share);
    }

    pub(crate) fn snapshot(&self) -> Vec<TenantSnapshot> {
        let snapshot = |(tenant, part): (&TenantId, &Part)| TenantSnapshot {
            tenant: *tenant,
            queued: part.queue.len(),
            workers: part.workers as usize,
            workers_max: part.share.workers_max,
        };
        self.parts.iter().map(snapshot).collect()
    }

    /// Changes a part, if it is there, and brings its entries up to date.
    fn change<T>(&mut self, tenant: TenantId, change: impl FnOnce(&mut Part) -> T) -> Option<T> {
        let part = self.parts.get_mut(&tenant)?;
        let changed = change(part);
        part.arrange(tenant, &mut self.entries);
        Some(changed)
    }

    fn leave(&mut self, tenant: TenantId) {
        if self.parts.get(&tenant).is_some_and(Part::is_empty) {
            self.parts.remove(&tenant);
        }
    }
}

impl Part {
    fn new(order: Order, share: PoolShare) -> Self {
        Self {
            queue: Queue::new(order),
            share,
            workers: 0,
            hands: BTreeSet::new(),
            turn: None,
            refill: None,
            grantable: 0,
        }
    }

    /// Brings its entries up to date.
    fn arrange(&mut self, tenant: TenantId, entries: &mut Entries) {
        let turn = self.next_turn(tenant);
        let refill = self.next_refill(tenant);
        let grantable = self.next_grantable();
        replace(&mut entries.turns, &mut self.turn, turn);
        replace(&mut entries.refills, &mut self.refill, refill);
        entries.grantable = entries.grantable - self.grantable + grantable;
        self.grantable = grantable;
    }

    fn is_empty(&self) -> bool {
        self.workers == 0 && self.queue.len() == 0
    }

    fn next_turn(&self, tenant: TenantId) -> Option<Turn> {
        let free = self.share.workers_max.is_none_or(|max| self.workers < max);
        if free { self.turn_with(self.workers, tenant) } else { None }
    }

    fn next_refill(&self, tenant: TenantId) -> Option<Turn> {
        if self.hands.is_empty() { None } else { self.turn_with(self.workers - 1, tenant) }
    }

    fn turn_with(&self, workers: u32, tenant: TenantId) -> Option<Turn> {
        let (rank, batch) = self.queue.first()?;
        Some(Turn { load: Load { workers, weight: self.share.weight }, rank, batch, tenant })
    }

    fn next_grantable(&self) -> usize {
        let max = self.share.workers_max;
        let free = max.map_or(usize::MAX, |max| max.saturating_sub(self.workers) as usize);
        self.queue.len().min(free)
    }
}

fn replace(turns: &mut BTreeSet<Turn>, entry: &mut Option<Turn>, new: Option<Turn>) {
    if *entry == new {
        return;
    }
    if let Some(old) = entry {
        turns.remove(old);
    }
    turns.extend(new);
    *entry = new;
}
