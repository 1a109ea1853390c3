//! The scheduler's state as a view.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_core::id::{BatchId, TenantId};
use assay_core::time::Micros;

use super::{Sched, pool_entitlement};
use crate::pool::Pool;
use crate::view::{
    BatchView, HeldView, PoolView, RunningLease, RunningView, SchedView, WorkerView,
};
use crate::worker::Worker;

impl Sched {
    /// A view of the current state. It copies what is known of each live batch.
    #[must_use]
    pub fn view(&self) -> SchedView {
        let mut batches: BTreeMap<BatchId, BatchView> =
            self.batches.iter().map(|(id, batch)| (*id, batch.view())).collect();
        for worker in self.workers.values() {
            let Some((held, elapsed)) = worker.running(self.now) else { continue };
            let Some(batch) = batches.get_mut(&held.request.batch) else { continue };
            let request = held.request;
            let holder = self.batches[&request.batch].holder(request.seq);
            // A request that two workers run counts once.
            if !held.abandoned && holder == Some(worker.id) {
                let started = self.now - elapsed;
                let ready = self.batches[&request.batch].could_be_ready(request.seq);
                let running = RunningView { elapsed, queued: started.since(ready) };
                let stage = &mut batch.at_stage[held.stage];
                stage.waiting -= 1;
                stage.running.push(running);
            }
        }
        for (id, stage, requests) in self.held.values().flat_map(|held| held.counts()) {
            let batch = batches.get_mut(&id).expect("what is held has a live batch");
            batch.at_stage[stage].waiting -= requests;
            batch.at_stage[stage].held += requests;
        }
        let workers = self.workers.values().map(|worker| worker.view(self.now)).collect();
        let held = self.held.iter().map(|(tenant, held)| {
            (*tenant, HeldView { stages: held.stages, requests: held.count() })
        });
        let held = held.collect();
        let batches = batches.into_values().collect();
        SchedView { pools: self.pool_views(), batches, workers, held }
    }

    /// The pools of the [`view`](Self::view), without a copy of the batches.
    #[must_use]
    pub fn pool_views(&self) -> BTreeMap<Arc<str>, PoolView> {
        let pools = self.pools.iter().map(|(name, pool)| (Arc::clone(name), pool.view(self.now)));
        let mut pools: BTreeMap<Arc<str>, PoolView> = pools.collect();
        for (name, workers_max) in self.bounds() {
            pools.entry(name).or_default().workers_max = Some(workers_max);
        }
        for worker in self.workers.values() {
            let pool = pools.get_mut(&worker.pool).expect("a worker's pool is there");
            pool.leased += worker.leases().len();
        }
        pools
    }

    /// The sum of the tenants' bounds, for each pool that only tenants with a bound need. A tenant that has a
    /// worker needs the pool, and keeps its workers above the bound.
    fn bounds(&self) -> BTreeMap<Arc<str>, usize> {
        if self.entitlements.values().all(|entitlement| entitlement.workers_max.is_empty()) {
            return BTreeMap::new();
        }
        let mut users: BTreeMap<&Arc<str>, BTreeSet<TenantId>> = BTreeMap::new();
        for batch in self.batches.values() {
            for stage in batch.new.stages.iter() {
                users.entry(&stage.pool).or_default().insert(batch.new.tenant);
            }
        }
        for (name, pool) in self.pools.iter() {
            users.entry(name).or_default().extend(pool.fair_queue.served());
        }
        users.retain(|_, tenants| !tenants.is_empty());
        let together = |(name, tenants): (&Arc<str>, BTreeSet<TenantId>)| {
            let pool = self.pools.get(name);
            let bounds = tenants.into_iter().map(|tenant| {
                let has = pool.map_or(0, |pool| pool.fair_queue.serving(tenant));
                let max = pool_entitlement(&self.entitlements, tenant, name).workers_max?;
                Some(max.max(has) as usize)
            });
            Some((Arc::clone(name), bounds.sum::<Option<usize>>()?))
        };
        users.into_iter().filter_map(together).collect()
    }
}

impl Pool {
    /// Without leases and the tenants' bound, which other parts of the scheduler know.
    fn view(&self, now: Micros) -> PoolView {
        let since = |asked| now.since(asked);
        let (starting, unplaced) = self.starts();
        PoolView {
            workers: self.serving(),
            came: self.serving_came(),
            idle: self.idle(),
            draining: self.draining,
            starting: starting.map(since).collect(),
            unplaced: unplaced.map(since).collect(),
            startup: self.startup.map(|mean| mean.value()),
            waiting: self.fair_queue.waiting(),
            leased: 0,
            workers_max: None,
            plan: self.plan.clone(),
            tenants: self.fair_queue.view(),
        }
    }
}

impl Worker {
    fn view(&self, now: Micros) -> WorkerView {
        WorkerView {
            id: self.id,
            pool: Arc::clone(&self.pool),
            draining: self.draining,
            leased: self.leases().len(),
            running: self.running(now).map(|(held, elapsed)| RunningLease {
                request: held.request,
                stage: held.stage,
                since: now - elapsed,
            }),
        }
    }
}
