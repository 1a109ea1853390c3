//! The events that the scheduler handles.

use std::sync::Arc;

use assay_core::id::{BatchId, Digest, LeaseId, RequestId, TenantId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;

use crate::discipline::Consumes;
use crate::entitlement::Entitlement;
use crate::held::HeldStages;
use crate::plan::PoolPlan;
use crate::profile::{Ending, Profile};
use crate::stage::StageShape;

/// Named in the past tense: each has happened and, where it matters, is durable.
#[derive(Debug, Clone)]
pub enum Event {
    /// A batch was announced.
    BatchAnnounced(NewBatch),
    /// Committed requests. Also how a restart brings back what was there.
    RequestsSubmitted {
        /// The batch.
        batch: BatchId,
        /// The requests, in the order of their numbers.
        requests: Vec<NewRequest>,
    },
    /// The client that waits for this request gives up then; a client that asks again sets a new deadline.
    RequestDeadline {
        /// The request.
        request: RequestId,
        /// The time at which the client gives up.
        deadline: Micros,
    },
    /// Primaries have ended with an outcome that their waiters share.
    WaitersEnded {
        /// The waiters and their ends.
        ended: Vec<WaiterEnd>,
    },
    /// Primaries have ended without an outcome to share: these waiters run.
    WaitersReleased {
        /// The waiters that run.
        released: Vec<Released>,
    },
    /// The trainer says how many of the batch's rollouts still run: as many requests are to come.
    BatchProgressed {
        /// The batch.
        batch: BatchId,
        /// The number of rollouts that still run.
        outstanding: u32,
    },
    /// No more requests will come.
    BatchSealed {
        /// The batch.
        batch: BatchId,
    },
    /// The client cancelled a batch.
    BatchCancelled {
        /// The batch.
        batch: BatchId,
    },
    /// A batch that was completed in an earlier life is known: its run's next batch is ranked by
    /// it. In order of completion.
    HistoryRead(Arc<Profile>),
    /// A worker connected and asks for leases, at most `leases_max` at once.
    WorkerJoined {
        /// The worker; no other had this id.
        worker: WorkerId,
        /// The pool that it serves.
        pool: Arc<str>,
        /// The most leases that it holds at once.
        leases_max: usize,
    },
    /// A worker connected that nobody started: it answers no start, and no plan stops it. It counts as supply
    /// of its pool.
    WorkerCame {
        /// The worker; no other had this id.
        worker: WorkerId,
        /// The pool that it serves.
        pool: Arc<str>,
        /// The most leases that it holds at once.
        leases_max: usize,
    },
    /// The worker runs the leases that it holds and gets no more.
    WorkerDraining {
        /// The worker.
        worker: WorkerId,
    },
    /// Its process or its connection is gone, or it fell silent.
    WorkerLost {
        /// The worker.
        worker: WorkerId,
    },
    /// A worker fetches and loads the plugin of its running lease: until it is loaded, the stage's time does not run.
    PluginLoading {
        /// The worker.
        worker: WorkerId,
        /// The token of the lease; only that of the running lease counts, and once.
        lease: LeaseId,
    },
    /// The plugin is loaded, and the stage starts.
    PluginLoaded {
        /// The worker.
        worker: WorkerId,
        /// The token of the lease.
        lease: LeaseId,
    },
    /// A worker had started a lease when it was revoked: it runs on, for nothing, until the worker answers it.
    StartedBeforeRevoked {
        /// The worker.
        worker: WorkerId,
        /// The token of the lease.
        lease: LeaseId,
    },
    /// A worker answered a lease.
    StageFinished {
        /// The worker that answers.
        worker: WorkerId,
        /// The token of the lease; a stale one is refused.
        lease: LeaseId,
        /// The ending of the stage.
        end: End,
        /// The time that the stage ran, by the worker's clock.
        ran: Micros,
    },
    /// The memory for the tenant's artifacts is scarce: from now on these of its stages are not started.
    StagesHeld {
        /// The tenant.
        tenant: TenantId,
        /// The stages, in place of those that were held.
        stages: HeldStages,
    },
    /// There is enough of it again: all are started.
    StagesReleased {
        /// The tenant.
        tenant: TenantId,
    },
    /// A start that [`crate::Action::StartWorkers`] asked for has failed; no worker comes of it.
    StartFailed {
        /// The pool.
        pool: Arc<str>,
    },
    /// So many of a pool's starts have no place: its launcher has no machine for them at the moment. They are the
    /// latest ones.
    StartsUnplaced {
        /// The pool.
        pool: Arc<str>,
        /// The number of its starts without a place.
        count: usize,
    },
    /// The planner's answer to [`crate::Action::PlanAnew`]. From its first plan on a pool is
    /// elastic: its workers are started and drained. A pool without one is left alone.
    Planned {
        /// The plan of each elastic pool.
        pools: Vec<PoolPlan>,
        /// The time to plan again if nothing calls for it before.
        again: Option<Micros>,
    },
    /// A tenant has this weight and these bounds from now on. The default is weight 1 without bounds.
    EntitlementChanged {
        /// The tenant.
        tenant: TenantId,
        /// Its weight and bounds.
        entitlement: Entitlement,
    },
    /// A bound of the planner has changed, such as a quota.
    PlanOutdated,
    /// Time has passed; see [`crate::Action::WakeAt`].
    Tick,
}

/// The paper's iteration of a task.
#[derive(Debug, Clone)]
pub struct NewBatch {
    /// The batch.
    pub id: BatchId,
    /// Its tenant.
    pub tenant: TenantId,
    /// Unique within the tenant.
    pub run: Arc<str>,
    /// The digest of the plugin's version.
    pub plugin: Digest,
    /// The stages of the plugin.
    pub stages: Arc<[StageShape]>,
    /// Complete with this many requests, without a seal.
    pub expected_size: Option<u32>,
    /// A group is complete with this many.
    pub group_size: Option<u32>,
    /// The paper's D: the largest extra delay that the run tolerates; `None` takes the planner's.
    pub tolerance: Option<Micros>,
    /// The unit for which the trainer waits.
    pub consumes: Consumes,
    /// Whether a stage may run on two workers at once; only where it has no effect but its outcome.
    pub hedged: bool,
    /// The time of the announcement; earlier than now after a restart.
    pub announced: Micros,
}

/// A request that was admitted.
#[derive(Debug, Clone)]
pub struct NewRequest {
    /// Its number in the batch, from 0.
    pub seq: u32,
    /// The shell's number of the group within the batch.
    pub group: Option<u32>,
    /// The time of its admission.
    pub arrived: Micros,
    /// The time at which the client that waits for it gives up; until then it is ranked as if its batch ended
    /// then.
    pub deadline: Option<Micros>,
    /// The time that all its stages together are expected to take, in milliseconds, as the trainer says; `None` counts
    /// as usual. Where whole batches are waited for, the longest request of a batch is served first.
    pub expected_ms: Option<u32>,
    /// The request's progress.
    pub progress: Progress,
}

/// Where a request stands when the scheduler first hears of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Waits for this stage; 0 unless it is brought back after a restart, then with the times of the
    /// stages before it.
    Waiting {
        /// The stage, from 0.
        stage: usize,
        /// The times of the stages before it.
        ran: Vec<Micros>,
    },
    /// Waits for the outcome of an equal request, of its own batch or another.
    WaitsFor {
        /// The request that computes the outcome.
        primary: RequestId,
    },
    /// Had ended before the scheduler heard of it; `earliest_end` is its t_i, arrival plus stage
    /// times (eq. 1), `ran` those times, from the first stage on.
    Finished {
        /// Its t_i.
        earliest_end: Micros,
        /// The time at which it ended.
        ended: Micros,
        /// The times of its stages.
        ran: Vec<Micros>,
        /// The request's ending.
        ending: Ending,
    },
}

/// How a stage ended, without what it returned: the shell keeps that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Go on to the next stage.
    Next,
    /// It returned a reward.
    Scored,
    /// It ran into its timeout.
    TimedOut,
    /// It failed; some failures are retried.
    Failed(ErrorCode),
    /// The stage would go on to the next, but there is no memory for its artifact: it is tried again, and this try does
    /// not count. The stage must be held for its tenant, or it would start again at once.
    NoRoom,
}

/// The end of a waiter, which is that of its primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaiterEnd {
    /// The waiter.
    pub request: RequestId,
    /// The ending of the shared computation.
    pub end: SharedEnd,
    /// The primary's t_i (eq. 1).
    pub earliest_end: Micros,
}

/// Ends that equal requests share; there is no error among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedEnd {
    /// There is a reward.
    Scored,
    /// A stage ran into its timeout.
    TimedOut {
        /// The stage, from 0.
        stage: usize,
    },
}

/// A waiter that runs now, and the requests that wait for it from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    /// The waiter that runs.
    pub request: RequestId,
    /// The requests that wait for it.
    pub waiters: Vec<RequestId>,
}
