//! The tenant that is served next, computed independently for each grant from leases and queues.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

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

    /// Plays the step's grants again, which come last in it, and looks at each.
    pub(super) fn check_entitlements(&self, grants: &[Grant], waiting: &[Vec<RequestId>]) {
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
            let mut scene = Scene { world: self, pool, leases, waiting };
            for grant in granted {
                scene.check(grant);
                scene.waiting.remove(&grant.request);
                scene.leases.get_mut(&grant.worker).expect("of this pool").push(grant.request);
            }
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
        if leases.is_empty() {
            assert!(self.may_have_more(tenant), "more workers than its bound");
        }
        for (other, first) in others {
            let mine = (self.serving(tenant) - spared, tenant);
            let theirs = (self.serving(other), other);
            let before = self.compare(mine, theirs).then_with(|| turn(key).cmp(&turn(first)));
            assert_eq!(before, Ordering::Less, "{other}'s turn, not {tenant}'s");
        }
    }

    fn serving(&self, tenant: TenantId) -> usize {
        let running = self.leases.values().filter_map(|leases| leases.first());
        running.filter(|request| self.world.tenant_of(**request) == tenant).count()
    }

    fn may_have_more(&self, tenant: TenantId) -> bool {
        let max = self.world.entitlement(tenant).workers_max.get(self.pool).copied();
        max.is_none_or(|max| self.serving(tenant) < max as usize)
    }

    /// Workers for a weight, in whole thousandths.
    fn compare(&self, a: (usize, TenantId), b: (usize, TenantId)) -> Ordering {
        let weight =
            |tenant| (self.world.entitlement(tenant).weight.value() * 1_000.0).round() as u128;
        (a.0 as u128 * weight(b.1)).cmp(&(b.0 as u128 * weight(a.1)))
    }

    /// What each tenant would have granted next.
    fn first(&self) -> BTreeMap<TenantId, Key> {
        let mut first: BTreeMap<TenantId, Key> = BTreeMap::new();
        for id in &self.waiting {
            let key = self.world.key(*id);
            let first = first.entry(self.world.tenant_of(*id)).or_insert(key);
            *first = key.min(*first);
        }
        first
    }
}

/// Tenants whose loads are equal go by their batches' ranks.
fn turn(key: Key) -> impl Ord {
    (key.0, key.1, key.2)
}
