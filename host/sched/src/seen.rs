//! What the planner sees: pools with their workers, live batches with how far they are.
//!
//! Counts instead of requests, so that taking it costs O(batches + workers) however much waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_model::id::{BatchId, Digest, TenantId};
use assay_model::time::Micros;

use crate::event::StageShape;
use crate::sched::{Sched, pool_share};

/// Taken between two steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    pub pools: BTreeMap<Arc<str>, PoolSeen>,
    /// By id.
    pub batches: Vec<BatchSeen>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolSeen {
    /// Joined and not draining.
    pub workers: usize,
    /// Of them those with nothing in hand.
    pub idle: usize,
    /// For how long each start that is under way has been so; the oldest first.
    pub starting: Vec<Micros>,
    /// How long starts took lately; `None` before the first.
    pub startup: Option<Micros>,
    pub waiting: usize,
    /// The most workers that all tenants who need it may have together, or have; `None` if one of
    /// them has no bound.
    pub workers_max: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchSeen {
    pub id: BatchId,
    pub tenant: TenantId,
    pub run: Arc<str>,
    pub plugin: Digest,
    pub stages: Arc<[StageShape]>,
    pub tolerance: Option<Micros>,
    pub announced: Micros,
    /// The paper's AT; `None` until the first request has come.
    pub first_arrival: Option<Micros>,
    pub submitted: u32,
    pub expected_size: Option<u32>,
    /// No more requests will come.
    pub sealed: bool,
    /// The latest t_i (eq. 1) of the requests that have ended.
    pub earliest_end: Option<Micros>,
    /// By which EBF ranks it, as far as it is known.
    pub rank: Option<Micros>,
    /// By stage.
    pub at_stage: Vec<StageSeen>,
}

/// A batch's requests at one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StageSeen {
    /// Queuing_k: they wait for a worker.
    pub waiting: usize,
    /// Running_k.
    pub running: Vec<RunningSeen>,
    /// When the latest of both would have reached this stage, had none ever queued.
    pub reached: Micros,
    /// Requests that ran this stage to its end, and their times together.
    pub ended: u32,
    pub ended_time: Micros,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunningSeen {
    /// For how long it has run (the paper's e_ik).
    pub elapsed: Micros,
    /// For how long it has queued, here and at the stages before.
    pub queued: Micros,
}

impl Sched {
    #[must_use]
    pub fn seen(&self) -> Seen {
        let mut pools: BTreeMap<Arc<str>, PoolSeen> = BTreeMap::new();
        for (name, pool) in &self.pools {
            let seen = PoolSeen {
                workers: pool.serving(),
                idle: pool.idle(),
                starting: pool.starting.iter().map(|asked| self.now.since(*asked)).collect(),
                startup: pool.startup.map(|mean| mean.value()),
                waiting: pool.division.waiting(),
                workers_max: None,
            };
            pools.insert(Arc::clone(name), seen);
        }
        for (name, workers_max) in self.bounds() {
            pools.entry(name).or_default().workers_max = Some(workers_max);
        }
        let mut batches: BTreeMap<BatchId, BatchSeen> =
            self.batches.iter().map(|(id, batch)| (*id, batch.seen())).collect();
        for worker in self.workers.values() {
            let Some((held, elapsed)) = worker.running(self.now) else { continue };
            let Some(batch) = batches.get_mut(&held.request.batch) else { continue };
            if !held.abandoned {
                let request = held.request;
                let started = self.now - elapsed;
                let ready = self.batches[&request.batch].could_be_ready(request.seq);
                let running = RunningSeen { elapsed, queued: started.since(ready) };
                let stage = &mut batch.at_stage[held.stage];
                stage.waiting -= 1;
                stage.running.push(running);
            }
        }
        Seen { pools, batches: batches.into_values().collect() }
    }

    /// Of each pool that only tenants with a bound need: their bounds together. Who has a worker
    /// needs it, and above a bound keeps it.
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
            users.entry(name).or_default().extend(pool.division.served());
        }
        users.retain(|_, tenants| !tenants.is_empty());
        let together = |(name, tenants): (&Arc<str>, BTreeSet<TenantId>)| {
            let pool = self.pools.get(name);
            let bounds = tenants.into_iter().map(|tenant| {
                let has = pool.map_or(0, |pool| pool.division.serving(tenant));
                let max = pool_share(&self.shares, tenant, name).workers_max?;
                Some(max.max(has) as usize)
            });
            Some((Arc::clone(name), bounds.sum::<Option<usize>>()?))
        };
        users.into_iter().filter_map(together).collect()
    }
}
