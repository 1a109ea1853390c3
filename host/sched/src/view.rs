//! A read-only copy of the scheduler's state between two steps, for the planner and for people.
//!
//! It has counts instead of requests, so that it costs O(pools * tenants + workers + batches), however many
//! requests wait. It decides nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::{BatchId, Digest, RequestId, TenantId, WorkerId};
use assay_core::time::Micros;

use crate::discipline::Consumes;
use crate::held::HeldStages;
use crate::plan::PoolPlan;
use crate::stage::StageShape;

/// The scheduler's state between two steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchedView {
    /// The pools that have workers, waiting requests or a plan, or a bound on the tenants that need them.
    pub pools: BTreeMap<Arc<str>, PoolView>,
    /// The live batches, by id.
    pub batches: Vec<BatchView>,
    /// The workers that have joined, by id.
    pub workers: Vec<WorkerView>,
    /// The tenants of whom stages are held.
    pub held: BTreeMap<TenantId, HeldView>,
}

/// A tenant's held stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldView {
    /// The stages.
    pub stages: HeldStages,
    /// The number of requests that wait for their release.
    pub requests: usize,
}

/// A pool between two steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolView {
    /// The workers that have joined and are not draining.
    pub workers: usize,
    /// The workers among them that came by themselves.
    pub came: usize,
    /// The workers among them that have no lease.
    pub idle: usize,
    /// The workers that finish their leases and get no more.
    pub draining: usize,
    /// The time since each start that is under way was requested or got its place, the oldest first.
    pub starting: Vec<Micros>,
    /// The time since each start was requested that has no place, the oldest first.
    pub unplaced: Vec<Micros>,
    /// The mean duration of the last starts from their places on; `None` before the first.
    pub startup: Option<Micros>,
    /// Requests that wait for a worker.
    pub waiting: usize,
    /// Leases that workers hold, those of cancelled requests that still run included.
    pub leased: usize,
    /// The most workers that all tenants which need the pool may have together, or have now; `None` if one
    /// of them has no bound.
    pub workers_max: Option<usize>,
    /// The pool's plan; `None` if the pool is not elastic.
    pub plan: Option<PoolPlan>,
    /// The tenants with a waiting or leased request, by id.
    pub tenants: Vec<TenantView>,
}

/// A tenant's requests and workers of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantView {
    /// The tenant.
    pub tenant: TenantId,
    /// Requests that wait for a worker.
    pub waiting: usize,
    /// Workers that hold leases of the tenant.
    pub workers: usize,
    /// The tenant's bound on its workers; `None` without one.
    pub workers_max: Option<u32>,
}

/// A live batch between two steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchView {
    /// The batch.
    pub id: BatchId,
    /// Its tenant.
    pub tenant: TenantId,
    /// Its run.
    pub run: Arc<str>,
    /// The version of its plugin.
    pub plugin: Digest,
    /// The stages of its requests.
    pub stages: Arc<[StageShape]>,
    /// The batch's tolerance for delay; `None` if it names none.
    pub tolerance: Option<Micros>,
    /// The unit for which its trainer waits.
    pub consumes: Consumes,
    /// The time of its announcement.
    pub announced: Micros,
    /// The paper's AT; `None` until the first request has come.
    pub first_arrival: Option<Micros>,
    /// The number of requests that have come.
    pub submitted: u32,
    /// The number of requests that will have come: by what the trainer last said of its rollouts, else as it was
    /// announced; `None` if neither is known.
    pub expected_size: Option<u32>,
    /// Whether no more requests will come.
    pub sealed: bool,
    /// The latest t_i (eq. 1) of the requests that have ended.
    pub earliest_end: Option<Micros>,
    /// The time by which EBF ranks it; `None` while it is unknown.
    pub rank: Option<Micros>,
    /// The requests at each stage, by stage.
    pub at_stage: Vec<StageView>,
    /// The number of requests that wait for the outcome of an equal request.
    pub waiters: usize,
}

/// A batch's requests at one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StageView {
    /// The number that waits for a worker (Queuing_k).
    pub waiting: usize,
    /// The number that waits until the stage is no longer held, and needs no worker before.
    pub held: usize,
    /// The running ones (Running_k).
    pub running: Vec<RunningView>,
    /// The time at which the latest of them would have reached this stage if none had ever queued.
    pub reached: Micros,
    /// The number of requests that ran this stage to its end, and the sum of their times.
    pub ended: u32,
    /// The sum of the times that those requests ran this stage.
    pub ended_time: Micros,
}

/// A running stage of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunningView {
    /// The time for which it has run (the paper's e_ik).
    pub elapsed: Micros,
    /// The time for which it has queued, at this stage and the stages before.
    pub queued: Micros,
}

/// A worker that has joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerView {
    /// The worker.
    pub id: WorkerId,
    /// Its pool.
    pub pool: Arc<str>,
    /// Whether it finishes its leases and gets no more.
    pub draining: bool,
    /// The number of its leases, that of a request that ended without it included.
    pub leased: usize,
    /// The lease that it runs; `None` if it has none.
    pub running: Option<RunningLease>,
}

/// The lease that is taken to be running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningLease {
    /// The request.
    pub request: RequestId,
    /// The stage, from 0.
    pub stage: usize,
    /// The time since which it runs.
    pub since: Micros,
}

impl SchedView {
    /// The number of requests that have not ended.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.batches.iter().map(BatchView::requests).sum()
    }
}

impl PoolView {
    /// The number of workers that have a lease and are not draining.
    #[must_use]
    pub fn busy(&self) -> usize {
        self.workers - self.idle
    }
}

impl BatchView {
    /// The number of requests that have not ended.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.at_stage.iter().map(StageView::requests).sum::<usize>() + self.waiters
    }
}

impl StageView {
    /// The number of requests at the stage.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.waiting + self.held + self.running.len()
    }
}
