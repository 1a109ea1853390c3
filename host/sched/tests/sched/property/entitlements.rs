//! The tenant that is served next, computed independently for each grant from leases and queues.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_core::id::{LeaseId, RequestId, TenantId, WorkerId};
use assay_sched::{Entitlement, Grant, TenantView};

use super::rules::Key;
use super::world::{POOLS, World, at};

/// Who serves whom, and what waits of each, in one pool.
struct Scene<'a> {
    world: &'a World,
    pool: &'a str,
    leases: BTreeMap<WorkerId, Vec<RequestId>>,
    waiting: BTreeSet<RequestId>,
    /// The step since which a tenant waits without a worker.
    unserved: BTreeMap<TenantId, usize>,
}

impl World {
    pub(super) fn tenant_of(&self, id: RequestId) -> TenantId {
        self.batches[&id.batch].tenant
    }

    pub(super) fn entitlement(&self, tenant: TenantId) -> Entitlement {
        self.entitlements.get(&tenant).cloned().unwrap_or_default()
    }

    /// How many workers of a pool serve a tenant: the draining too, and those that run what ended.
    fn serving_tenant(&self, tenant: TenantId, pool: &str) -> usize {
        let workers = self.workers.values().filter(|worker| &*worker.pool == pool);
        let running = workers.filter_map(|worker| worker.leases.first());
        running.filter(|(_, request)| self.tenant_of(*request) == tenant).count()
    }

    pub(super) fn may_have_more(&self, tenant: TenantId, pool: &str) -> bool {
        let max = self.entitlement(tenant).workers_max.get(pool).copied();
        max.is_none_or(|max| self.serving_tenant(tenant, pool) < max as usize)
    }

    pub(super) fn tenants_of(&self, pool: &str, waiting: &[RequestId]) -> Vec<TenantView> {
        let tenants = self.batches.values().map(|batch| batch.tenant);
        let tenants: BTreeSet<TenantId> = tenants.collect();
        let view = |tenant: TenantId| TenantView {
            tenant,
            waiting: waiting.iter().filter(|id| self.tenant_of(**id) == tenant).count(),
            workers: self.serving_tenant(tenant, pool),
            workers_max: self.entitlement(tenant).workers_max.get(pool).copied(),
        };
        let there = |tenant: &TenantView| tenant.waiting + tenant.workers > 0;
        tenants.into_iter().map(view).filter(there).collect()
    }

    /// A worker is taken from a tenant with several, for one without that could have it.
    pub(super) fn preempted(&mut self, id: WorkerId) {
        let worker = &self.workers[&id];
        let pool = Arc::clone(&worker.pool);
        assert!(!worker.draining, "a draining worker serves nobody else");
        self.check_full(&pool);
        let (_, running) = worker.leases[0];
        assert!(self.serving_tenant(self.tenant_of(running), &pool) > 1, "its last worker");
        let mut waiting =
            self.waiting()[at(&pool)].clone().into_iter().map(|id| self.tenant_of(id));
        assert!(
            waiting.any(|tenant| {
                self.serving_tenant(tenant, &pool) == 0 && self.may_have_more(tenant, &pool)
            }),
            "nobody needs the worker"
        );
        self.gone(id);
    }

    /// Plays the step's grants again, which come last in it, and looks at each.
    pub(super) fn check_entitlements(&mut self, grants: &[Grant], waiting: &[Vec<RequestId>]) {
        let step = self.steps.len();
        let new: BTreeSet<LeaseId> = grants.iter().map(|grant| grant.lease).collect();
        for pool in POOLS {
            let workers = self.workers.iter().filter(|(_, worker)| *worker.pool == *pool);
            let before = |leases: &[(LeaseId, RequestId)]| -> Vec<RequestId> {
                let old = leases.iter().filter(|(lease, _)| !new.contains(lease));
                old.map(|(_, request)| *request).collect()
            };
            let leases: BTreeMap<WorkerId, Vec<RequestId>> =
                workers.map(|(id, worker)| (*id, before(&worker.leases))).collect();
            let granted: Vec<&Grant> =
                grants.iter().filter(|grant| leases.contains_key(&grant.worker)).collect();
            let requests = granted.iter().map(|grant| grant.request);
            let waiting = waiting[at(pool)].iter().copied().chain(requests).collect();
            let mut scene = Scene { world: self, pool, leases, waiting, unserved: BTreeMap::new() };
            let before = &self.unserved[at(pool)];
            let unserved = scene
                .without_worker()
                .map(|tenant| (tenant, before.get(&tenant).copied().unwrap_or(step)));
            scene.unserved = unserved.collect();
            for grant in granted {
                scene.check(grant);
                scene.waiting.remove(&grant.request);
                scene.leases.get_mut(&grant.worker).expect("of this pool").push(grant.request);
                scene.unserved.remove(&self.tenant_of(grant.request));
            }
            let unserved = scene.unserved;
            self.unserved[at(pool)] = unserved;
        }
    }
}

impl Scene<'_> {
    fn check(&self, grant: &Grant) {
        let tenant = self.world.tenant_of(grant.request);
        let leases = &self.leases[&grant.worker];
        assert!(
            leases.iter().all(|held| self.world.tenant_of(*held) == tenant),
            "leases of two tenants"
        );
        let others = self.first().into_iter().filter(|(other, _)| *other != tenant);
        let others = others.filter(|(other, _)| self.may_have_more(*other));
        let key = self.world.key(grant.request);
        let spared = usize::from(!leases.is_empty());
        assert!(self.may_have(tenant, self.serving(tenant) + 1 - spared), "above its bound");
        if self.world.entitlement(tenant).share_runs {
            self.check_run(grant.request);
        }
        for (other, first) in others {
            let mine = (self.serving(tenant) - spared, tenant);
            let theirs = (self.serving(other), other);
            let load = self.compare(mine, theirs);
            if load == Ordering::Equal && mine.0 == 0 {
                // Tenants without a worker take turns; a worker goes on with its tenant for a while.
                let turn = spared == 1 || self.unserved[&tenant] <= self.unserved[&other];
                assert!(turn, "{other} has waited for longer than {tenant}");
                continue;
            }
            let before = load.then_with(|| turn(key).cmp(&turn(first)));
            assert_eq!(before, Ordering::Less, "{other}'s turn, not {tenant}'s");
        }
    }

    /// The tenants that wait without a worker.
    fn without_worker(&self) -> impl Iterator<Item = TenantId> {
        let tenants: BTreeSet<TenantId> =
            self.waiting.iter().map(|id| self.world.tenant_of(*id)).collect();
        tenants.into_iter().filter(|tenant| self.serving(*tenant) == 0)
    }

    /// The request is the next one of the run with the fewest workers, among the runs of its tenant.
    fn check_run(&self, granted: RequestId) {
        let tenant = self.world.tenant_of(granted);
        let waiting = self.waiting.iter().filter(|id| self.world.tenant_of(**id) == tenant);
        let first = waiting.map(|id| (self.serving_run(*id), self.world.key(*id))).min();
        let (fewest, key) = first.expect("the granted request waited");
        assert_eq!(self.serving_run(granted), fewest, "the turn of a run with fewer workers");
        assert_eq!(self.world.key(granted), key, "before its turn");
    }

    /// How many workers serve the run of this request.
    fn serving_run(&self, id: RequestId) -> usize {
        let run = |id: &RequestId| {
            let batch = &self.world.batches[&id.batch];
            (batch.tenant, &batch.run)
        };
        let running = self.leases.values().filter_map(|leases| leases.first());
        running.filter(|served| run(served) == run(&id)).count()
    }

    fn serving(&self, tenant: TenantId) -> usize {
        let running = self.leases.values().filter_map(|leases| leases.first());
        running.filter(|request| self.world.tenant_of(**request) == tenant).count()
    }

    fn may_have_more(&self, tenant: TenantId) -> bool {
        self.may_have(tenant, self.serving(tenant) + 1)
    }

    fn may_have(&self, tenant: TenantId, workers: usize) -> bool {
        let max = self.world.entitlement(tenant).workers_max.get(self.pool).copied();
        max.is_none_or(|max| workers <= max as usize)
    }

    /// Workers for a weight, in whole thousandths.
    fn compare(&self, a: (usize, TenantId), b: (usize, TenantId)) -> Ordering {
        let weight =
            |tenant| (self.world.entitlement(tenant).weight.value() * 1_000.0).round() as u128;
        (a.0 as u128 * weight(b.1)).cmp(&(b.0 as u128 * weight(a.1)))
    }

    /// What each tenant would have granted next.
    fn first(&self) -> BTreeMap<TenantId, Key> {
        let mut first: BTreeMap<TenantId, (usize, Key)> = BTreeMap::new();
        for id in &self.waiting {
            let tenant = self.world.tenant_of(*id);
            let shared = self.world.entitlement(tenant).share_runs;
            let key = (if shared { self.serving_run(*id) } else { 0 }, self.world.key(*id));
            let first = first.entry(tenant).or_insert(key);
            *first = key.min(*first);
        }
        first.into_iter().map(|(tenant, (_, key))| (tenant, key)).collect()
    }
}

/// Tenants whose loads are equal go by their batches' ranks.
fn turn(key: Key) -> impl Ord {
    (key.0, key.1, key.2)
}
