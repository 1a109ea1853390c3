//! The fair queue of a pool: one queue for each tenant, and the rule that picks the next tenant.
//!
//! ```text
//!   idle worker ------> the tenant with the fewest workers for its weight, among those that have
//!        ^              waiting requests and are below their bound; among those without a worker
//!        |              the one that has waited for longest, else the rank breaks ties
//!        |                                   |
//!        |  its last lease has ended         v
//!        +--------------------------- serves that tenant --+
//!                                            ^             |  more leases of the same tenant, while
//!                                            +-------------+  the worker would return to it if idle
//! ```
//!
//! This is weighted max-min fairness over workers. The pool owns the queue. A worker serves one tenant at
//! a time, so workers are shared at each moment, however long stages run and however many leases are
//! prefetched; a tenant is owed nothing for the past. While a pool has fewer workers than tenants, they take
//! turns, so that none starves: a worker goes on to the next tenant without one when what it runs has ended, or if
//! it is prefetching, after a turn's time. Inside a tenant's queue the discipline decides, or first the number of
//! workers of each run (`run_queues`). A tenant's queue exists while one of its requests waits or a worker serves it.
//!
//! Each change costs O(log tenants), counted over the tenants that have something in this pool.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_core::id::{BatchId, RequestId, TenantId, WorkerId};
use assay_core::time::Micros;

use crate::discipline::Discipline;
use crate::entitlement::{PoolEntitlement, TenantLoad};
use crate::queue::{Place, Rank};
use crate::run_queues::RunQueues;
use crate::view::TenantView;

/// The tenant and the run of a request: who is served by the worker that runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) tenant: TenantId,
    pub(crate) run: Arc<str>,
}

/// A worker that may prefetch more leases of the tenant that it serves. The least loaded comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Prefetcher {
    /// Whether it has served the tenant for a turn's time, so that tenants without a worker come first.
    pub(crate) is_turn_over: bool,
    pub(crate) expected: Micros,
    pub(crate) leases: usize,
    pub(crate) worker: WorkerId,
}

/// The key by which tenants are ordered. The smaller comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NextTenant {
    load: TenantLoad,
    /// Its turn among the tenants without a worker.
    turn: u64,
    /// The rank of the tenant's next request.
    rank: Rank,
    batch: BatchId,
    tenant: TenantId,
}

#[derive(Debug)]
struct TenantQueue {
    runs: RunQueues,
    entitlement: PoolEntitlement,
    /// The number of workers that serve the tenant.
    workers: u32,
    /// Its turn, from when it last had no worker.
    turn: u64,
    /// The tenant's workers that may prefetch more leases.
    prefetchers: BTreeSet<Prefetcher>,
    /// Its entries in the fair queue.
    candidate: Option<NextTenant>,
    top_up: Option<NextTenant>,
    grantable: usize,
}

#[derive(Debug)]
pub(crate) struct FairQueue {
    discipline: Discipline,
    tenants: BTreeMap<TenantId, TenantQueue>,
    entries: Entries,
    waiting: usize,
    last_turn: u64,
}

/// The indexes over all tenants' queues.
#[derive(Debug, Default)]
struct Entries {
    /// The tenants that an idle worker may serve.
    candidates: BTreeSet<NextTenant>,
    /// The tenants whose workers have room, ordered as if one of those workers were idle.
    top_ups: BTreeSet<NextTenant>,
    grantable: usize,
}

impl FairQueue {
    pub(crate) fn new(discipline: Discipline) -> Self {
        Self {
            discipline,
            tenants: BTreeMap::new(),
            entries: Entries::default(),
            waiting: 0,
            last_turn: 0,
        }
    }

    /// The number of waiting requests.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The number of waiting requests that could have a worker each, within their tenants' bounds.
    pub(crate) fn grantable(&self) -> usize {
        self.entries.grantable
    }

    /// The tenants that have a worker.
    pub(crate) fn served(&self) -> impl Iterator<Item = TenantId> {
        let served = self.tenants.iter().filter(|(_, tenant_queue)| tenant_queue.workers > 0);
        served.map(|(tenant, _)| *tenant)
    }

    /// The number of workers that serve a tenant.
    pub(crate) fn serving(&self, tenant: TenantId) -> u32 {
        self.tenants.get(&tenant).map_or(0, |tenant_queue| tenant_queue.workers)
    }

    /// Whether a tenant that has workers may have one more.
    pub(crate) fn may_serve_more(&self, tenant: TenantId) -> bool {
        self.tenants.get(&tenant).is_some_and(|tenant_queue| {
            let max = tenant_queue.entitlement.workers_max;
            max.is_none_or(|max| tenant_queue.workers < max)
        })
    }

    /// The tenant that an idle worker serves next.
    pub(crate) fn next_tenant(&self) -> Option<TenantId> {
        self.entries.candidates.first().map(|candidate| candidate.tenant)
    }

    /// The tenant that an idle worker serves next, if it has no worker.
    pub(crate) fn next_unserved(&self) -> Option<TenantId> {
        let next = self.entries.candidates.first()?;
        (next.load.workers == 0).then_some(next.tenant)
    }

    /// The tenants with more than one worker, the one with the most for its weight first.
    pub(crate) fn most_served(&self) -> Vec<TenantId> {
        let several = self.tenants.iter().filter(|(_, tenant_queue)| tenant_queue.workers > 1);
        let mut tenants: Vec<_> =
            several.map(|(tenant, tenant_queue)| (tenant_queue.load(), *tenant)).collect();
        tenants.sort_unstable_by(|one, other| other.cmp(one));
        tenants.into_iter().map(|(_, tenant)| tenant).collect()
    }

    /// The worker that takes one more lease of the tenant that it serves, if any.
    pub(crate) fn next_top_up(&self) -> Option<(WorkerId, TenantId)> {
        let top_up = self.entries.top_ups.first()?;
        // If another tenant comes before this one, it comes before all others with room too.
        let other =
            self.entries.candidates.iter().find(|candidate| candidate.tenant != top_up.tenant);
        if other.is_some_and(|other| other < top_up) {
            return None;
        }
        let prefetcher = self.tenants[&top_up.tenant]
            .prefetchers
            .first()
            .expect("a tenant to top up has a prefetcher");
        Some((prefetcher.worker, top_up.tenant))
    }

    /// Adds a request. `entitlement` is called for a tenant that has no queue here yet.
    pub(crate) fn push(
        &mut self,
        owner: &Owner,
        request: RequestId,
        place: Place,
        entitlement: impl FnOnce() -> PoolEntitlement,
    ) {
        self.enter(owner.tenant, entitlement);
        self.change(owner.tenant, |tenant_queue| {
            tenant_queue.runs.push(&owner.run, request, place)
        });
        self.waiting += 1;
    }

    /// Makes the queue of a tenant that has none here. `entitlement` is called for such a tenant.
    pub(crate) fn enter(
        &mut self,
        tenant: TenantId,
        entitlement: impl FnOnce() -> PoolEntitlement,
    ) {
        self.tenants.entry(tenant).or_insert_with(|| {
            self.last_turn += 1;
            TenantQueue::new(self.discipline, entitlement(), self.last_turn)
        });
    }

    /// Removes the next request of the tenant that `next_tenant` or `next_top_up` named. The caller must
    /// count the worker that gets it by `replace_served` at once.
    pub(crate) fn pop(&mut self, tenant: TenantId) -> RequestId {
        self.waiting -= 1;
        self.change(tenant, |tenant_queue| tenant_queue.runs.pop())
            .flatten()
            .expect("the next tenant has a waiting request")
    }

    /// Removes a request that waits here.
    pub(crate) fn remove(&mut self, owner: &Owner, request: RequestId, place: Place) {
        self.change(owner.tenant, |tenant_queue| {
            tenant_queue.runs.remove(&owner.run, request, place);
        })
        .expect("a tenant with a waiting request has a queue");
        self.waiting -= 1;
        self.leave(owner.tenant);
    }

    /// Changes the deadline of a request that waits here.
    pub(crate) fn set_deadline(&mut self, owner: &Owner, request: RequestId, place: Place) {
        self.change(owner.tenant, |tenant_queue| {
            tenant_queue.runs.set_deadline(&owner.run, request, place);
        });
    }

    pub(crate) fn rerank(&mut self, owner: &Owner, batch: BatchId, rank: Rank) {
        self.change(owner.tenant, |tenant_queue| {
            tenant_queue.runs.rerank(&owner.run, batch, rank);
        });
    }

    pub(crate) fn regroup(&mut self, owner: &Owner, batch: BatchId, group: u32, left: u32) {
        self.change(owner.tenant, |tenant_queue| {
            tenant_queue.runs.regroup(&owner.run, batch, group, left);
        });
    }

    pub(crate) fn remove_batch(&mut self, owner: &Owner, batch: BatchId) {
        let removed = self.change(owner.tenant, |tenant_queue| {
            let before = tenant_queue.runs.len();
            tenant_queue.runs.remove_batch(&owner.run, batch);
            before - tenant_queue.runs.len()
        });
        self.waiting -= removed.unwrap_or(0);
        self.leave(owner.tenant);
    }

    /// A worker that served `old` serves `new`.
    pub(crate) fn replace_served(&mut self, old: Option<&Owner>, new: Option<&Owner>) {
        if old == new {
            return;
        }
        if let Some(owner) = new {
            self.change(owner.tenant, |tenant_queue| {
                tenant_queue.workers += 1;
                tenant_queue.runs.serve(&owner.run);
            })
            .expect("a tenant with a worker has a queue");
        }
        if let Some(owner) = old {
            self.last_turn += 1;
            let turn = self.last_turn;
            self.change(owner.tenant, |tenant_queue| {
                tenant_queue.workers -= 1;
                tenant_queue.turn = turn;
                tenant_queue.runs.release(&owner.run);
            })
            .expect("a tenant with a worker has a queue");
            self.leave(owner.tenant);
        }
    }

    pub(crate) fn insert_prefetcher(&mut self, tenant: TenantId, prefetcher: Prefetcher) {
        self.change(tenant, |tenant_queue| tenant_queue.prefetchers.insert(prefetcher));
    }

    pub(crate) fn remove_prefetcher(&mut self, tenant: TenantId, prefetcher: &Prefetcher) {
        self.change(tenant, |tenant_queue| tenant_queue.prefetchers.remove(prefetcher));
    }

    /// The tenant's entitlement has changed.
    pub(crate) fn set_entitlement(&mut self, tenant: TenantId, entitlement: PoolEntitlement) {
        self.change(tenant, |tenant_queue| {
            tenant_queue.entitlement = entitlement;
            tenant_queue.runs.set_shared(entitlement.share_runs);
        });
    }

    pub(crate) fn view(&self) -> Vec<TenantView> {
        let view = |(tenant, tenant_queue): (&TenantId, &TenantQueue)| TenantView {
            tenant: *tenant,
            waiting: tenant_queue.runs.len(),
            workers: tenant_queue.workers as usize,
            workers_max: tenant_queue.entitlement.workers_max,
        };
        self.tenants.iter().map(view).collect()
    }

    /// Changes a tenant's queue, if there is one, and updates its entries.
    fn change<T>(
        &mut self,
        tenant: TenantId,
        change: impl FnOnce(&mut TenantQueue) -> T,
    ) -> Option<T> {
        let tenant_queue = self.tenants.get_mut(&tenant)?;
        let changed = change(tenant_queue);
        tenant_queue.arrange(tenant, &mut self.entries);
        Some(changed)
    }

    fn leave(&mut self, tenant: TenantId) {
        if self.tenants.get(&tenant).is_some_and(TenantQueue::is_empty) {
            self.tenants.remove(&tenant);
        }
    }
}

impl TenantQueue {
    fn new(discipline: Discipline, entitlement: PoolEntitlement, turn: u64) -> Self {
        Self {
            runs: RunQueues::new(discipline, entitlement.share_runs),
            entitlement,
            workers: 0,
            turn,
            prefetchers: BTreeSet::new(),
            candidate: None,
            top_up: None,
            grantable: 0,
        }
    }

    /// Updates its entries in the indexes.
    fn arrange(&mut self, tenant: TenantId, entries: &mut Entries) {
        let candidate = self.next_candidate(tenant);
        let top_up = self.next_top_up(tenant);
        let grantable = self.next_grantable();
        replace(&mut entries.candidates, &mut self.candidate, candidate);
        replace(&mut entries.top_ups, &mut self.top_up, top_up);
        entries.grantable = entries.grantable - self.grantable + grantable;
        self.grantable = grantable;
    }

    fn is_empty(&self) -> bool {
        self.workers == 0 && self.runs.len() == 0
    }

    fn next_candidate(&self, tenant: TenantId) -> Option<NextTenant> {
        let free = self.entitlement.workers_max.is_none_or(|max| self.workers < max);
        if free { self.candidate_with(self.workers, self.turn, tenant) } else { None }
    }

    /// With more workers than its bound, none of them is topped up: it would not be idle before the queue is empty.
    fn next_top_up(&self, tenant: TenantId) -> Option<NextTenant> {
        if self.entitlement.workers_max.is_some_and(|max| self.workers > max) {
            return None;
        }
        let turn = if self.prefetchers.first()?.is_turn_over { u64::MAX } else { 0 };
        self.candidate_with(self.workers - 1, turn, tenant)
    }

    fn candidate_with(&self, workers: u32, turn: u64, tenant: TenantId) -> Option<NextTenant> {
        let (rank, batch) = self.runs.first()?;
        // Those that have a worker do not starve, and ranks decide.
        let turn = if workers == 0 { turn } else { 0 };
        Some(NextTenant { load: self.load_with(workers), turn, rank, batch, tenant })
    }

    fn load(&self) -> TenantLoad {
        self.load_with(self.workers)
    }

    fn load_with(&self, workers: u32) -> TenantLoad {
        TenantLoad { workers, weight: self.entitlement.weight }
    }

    fn next_grantable(&self) -> usize {
        let max = self.entitlement.workers_max;
        let free = max.map_or(usize::MAX, |max| max.saturating_sub(self.workers) as usize);
        self.runs.len().min(free)
    }
}

fn replace(
    candidates: &mut BTreeSet<NextTenant>,
    entry: &mut Option<NextTenant>,
    new: Option<NextTenant>,
) {
    if *entry == new {
        return;
    }
    if let Some(old) = entry {
        candidates.remove(old);
    }
    candidates.extend(new);
    *entry = new;
}
