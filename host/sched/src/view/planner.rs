//! The planner's view: the pools with their workers, and the live batches with their progress.
//!
//! It has counts instead of requests, so that it costs O(batches + workers), however many requests wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::time::Micros;

use crate::event::StageShape;
use crate::sched::{Sched, pool_share};

/// The state from which the planner makes a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchedView {
    /// The pools, by name.
    pub pools: BTreeMap<Arc<str>, PoolView>,
    /// The live batches, by id.
    pub batches: Vec<BatchView>,
}

/// A pool as the planner sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolView {
    /// The workers that have joined and are not draining.
    pub workers: usize,
    /// The workers among them that have no lease.
    pub idle: usize,
    /// The time since the request of each start that is under way, the oldest first.
    pub starting: Vec<Micros>,
    /// The mean duration of the last starts; `None` before the first.
    pub startup: Option<Micros>,
    /// The requests that wait for a worker.
    pub waiting: usize,
    /// The most workers that all tenants which need the pool may have together, or have now; `None` if one
    /// of them has no bound.
    pub workers_max: Option<usize>,
}

/// A live batch as the planner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchView {
    /// The batch.
    pub id: BatchId,
    /// Its tenant.
    pub tenant: TenantId,
    /// Its run.
    pub run: Arc<str>,
    /// The digest of the plugin's version.
    pub plugin: Digest,
    /// The stages of the plugin.
    pub stages: Arc<[StageShape]>,
    /// The paper's D; `None` if the run names none.
    pub tolerance: Option<Micros>,
    /// The time of its announcement.
    pub announced: Micros,
    /// The paper's AT; `None` until the first request has come.
    pub first_arrival: Option<Micros>,
    /// The requests that have come.
    pub submitted: u32,
    /// The number of requests that its client expects; `None` if it names none.
    pub expected_size: Option<u32>,
    /// Whether no more requests will come.
    pub sealed: bool,
    /// The latest t_i (eq. 1) of the requests that have ended.
    pub earliest_end: Option<Micros>,
    /// The time by which EBF ranks it; `None` while it is unknown.
    pub rank: Option<Micros>,
    /// The requests at each stage, by stage.
    pub at_stage: Vec<StageView>,
}

/// A batch's requests at one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StageView {
    /// The number that waits for a worker (Queuing_k).
    pub waiting: usize,
    /// The running ones (Running_k).
    pub running: Vec<RunningView>,
    /// The time at which the latest of both would have reached this stage if none had ever queued.
    pub reached: Micros,
    /// The number of requests that ran this stage to its end, and the sum of their times.
    pub ended: u32,
    /// The sum of their times at this stage.
    pub ended_time: Micros,
}

/// A running request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunningView {
    /// The time for which it has run (the paper's e_ik).
    pub elapsed: Micros,
    /// The time for which it has queued, at this stage and the stages before.
    pub queued: Micros,
}

impl Sched {
    /// The planner's view of the current state.
    #[must_use]
    pub fn view(&self) -> SchedView {
        let mut pools: BTreeMap<Arc<str>, PoolView> = BTreeMap::new();
        for (name, pool) in &self.pools {
            let seen = PoolView {
                workers: pool.serving(),
                idle: pool.idle(),
                starting: pool.starting.iter().map(|asked| self.now.since(*asked)).collect(),
                startup: pool.startup.map(|mean| mean.value()),
                waiting: pool.fair_queue.waiting(),
                workers_max: None,
            };
            pools.insert(Arc::clone(name), seen);
        }
        for (name, workers_max) in self.bounds() {
            pools.entry(name).or_default().workers_max = Some(workers_max);
        }
        let mut batches: BTreeMap<BatchId, BatchView> =
            self.batches.iter().map(|(id, batch)| (*id, batch.view())).collect();
        for worker in self.workers.values() {
            let Some((held, elapsed)) = worker.running(self.now) else { continue };
            let Some(batch) = batches.get_mut(&held.request.batch) else { continue };
            if !held.abandoned {
                let request = held.request;
                let started = self.now - elapsed;
                let ready = self.batches[&request.batch].could_be_ready(request.seq);
                let running = RunningView { elapsed, queued: started.since(ready) };
                let stage = &mut batch.at_stage[held.stage];
                stage.waiting -= 1;
                stage.running.push(running);
            }
        }
        SchedView { pools, batches: batches.into_values().collect() }
    }

    /// The sum of the tenants' bounds, for each pool that only tenants with a bound need. A tenant that has a
    /// worker needs the pool, and keeps its workers above the bound.
    fn bounds(&self) -> BTreeMap<Arc<str>, usize> {
        if self.shares.values().all(|share| share.workers_max.is_empty()) {
            return BTreeMap::new();
        }
        let mut users: BTreeMap<&Arc<str>, BTreeSet<TenantId>> = BTreeMap::new();
        for batch in self.batches.values() {
            for stage in batch.new.stages.iter() {
                users.entry(&stage.pool).or_default().insert(batch.new.tenant);
            }
        }
        for (name, pool) in &self.pools {
            users.entry(name).or_default().extend(pool.fair_queue.served());
        }
        users.retain(|_, tenants| !tenants.is_empty());
        let together = |(name, tenants): (&Arc<str>, BTreeSet<TenantId>)| {
            let pool = self.pools.get(name);
            let bounds = tenants.into_iter().map(|tenant| {
                let has = pool.map_or(0, |pool| pool.fair_queue.serving(tenant));
                let max = pool_share(&self.shares, tenant, name).workers_max?;
                Some(max.max(has) as usize)
            });
            Some((Arc::clone(name), bounds.sum::<Option<usize>>()?))
        };
        users.into_iter().filter_map(together).collect()
    }
}
