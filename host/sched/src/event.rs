//! The events that the scheduler handles.

use std::sync::Arc;

use assay_core::id::{BatchId, Digest, LeaseId, RequestId, TenantId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;

use crate::entitlement::Entitlement;
use crate::profile::{Ending, Profile};
use crate::scale::PoolPlan;

/// Named in the past tense: each has happened and, where it matters, is durable.
#[derive(Debug, Clone)]
pub enum Event {
    BatchAnnounced(NewBatch),
    /// Committed requests. Also how a restart brings back what was there.
    RequestsSubmitted {
        batch: BatchId,
        requests: Vec<NewRequest>,
    },
    /// The client that waits for this request gives up then; a client that asks again sets a new deadline.
    RequestDeadline {
        request: RequestId,
        deadline: Micros,
    },
    /// Primaries have ended with an outcome that their waiters share.
    WaitersEnded {
        ended: Vec<WaiterEnd>,
    },
    /// Primaries have ended without an outcome to share: these waiters run.
    WaitersReleased {
        released: Vec<Released>,
    },
    BatchSealed {
        batch: BatchId,
    },
    BatchCancelled {
        batch: BatchId,
    },
    /// A batch that was completed in an earlier life is known: its run's next batch is ranked by
    /// it. In order of completion.
    HistoryRead(Arc<Profile>),
    /// A worker connected and asks for leases, at most `leases_max` at once.
    WorkerJoined {
        worker: WorkerId,
        pool: Arc<str>,
        leases_max: usize,
    },
    /// The worker runs the leases that it holds and gets no more.
    WorkerDraining {
        worker: WorkerId,
    },
    /// Its process or its connection is gone, or it fell silent.
    WorkerLost {
        worker: WorkerId,
    },
    StageFinished {
        worker: WorkerId,
        lease: LeaseId,
        end: End,
        ran: Micros,
    },
    /// A start that [`crate::Action::StartWorkers`] asked for has failed; no worker comes of it.
    StartFailed {
        pool: Arc<str>,
    },
    /// The planner's answer to [`crate::Action::PlanAnew`]. From its first plan on a pool is
    /// elastic: its workers are started and drained. A pool without one is left alone.
    Planned {
        pools: Vec<PoolPlan>,
        /// When to plan again if nothing calls for it before.
        again: Option<Micros>,
    },
    /// A tenant has this weight and these bounds from now on. The default is weight 1 without bounds.
    EntitlementChanged {
        tenant: TenantId,
        entitlement: Entitlement,
    },
    /// What bounds the planner has changed, such as a quota.
    PlanOutdated,
    /// Time has passed; see [`crate::Action::WakeAt`].
    Tick,
}

/// The paper's iteration of a task.
#[derive(Debug, Clone)]
pub struct NewBatch {
    pub id: BatchId,
    pub tenant: TenantId,
    /// Unique within the tenant.
    pub run: Arc<str>,
    pub plugin: Digest,
    pub stages: Arc<[StageShape]>,
    /// Complete with this many requests, without a seal.
    pub expected_size: Option<u32>,
    /// A group is complete with this many.
    pub group_size: Option<u32>,
    /// The paper's D: the largest extra delay that the run tolerates; `None` takes the planner's.
    pub tolerance: Option<Micros>,
    /// When it was announced; earlier than now after a restart.
    pub announced: Micros,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageShape {
    pub pool: Arc<str>,
    pub timeout: Micros,
    /// Retries when the plugin or a capability failed in a way that may pass.
    pub retries_max: u32,
}

#[derive(Debug, Clone)]
pub struct NewRequest {
    pub seq: u32,
    /// The shell's number of the group within the batch.
    pub group: Option<u32>,
    pub arrived: Micros,
    /// The time at which the client that waits for it gives up; until then it is ranked as if its batch ended
    /// then.
    pub deadline: Option<Micros>,
    pub progress: Progress,
}

/// Where a request stands when the scheduler first hears of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Waits for this stage; 0 unless it is brought back after a restart, then with the times of the
    /// stages before it.
    Waiting { stage: usize, ran: Vec<Micros> },
    /// Waits for the outcome of an equal request, of its own batch or another.
    WaitsFor { primary: RequestId },
    /// Had ended before the scheduler heard of it; `earliest_end` is its t_i, arrival plus stage
    /// times (eq. 1), `ran` those times, from the first stage on.
    Finished { earliest_end: Micros, ran: Vec<Micros>, ending: Ending },
}

/// How a stage ended, without what it returned: the shell keeps that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Go on to the next stage.
    Next,
    Scored,
    TimedOut,
    Failed(ErrorCode),
}

/// The end of a waiter, which is that of its primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaiterEnd {
    pub request: RequestId,
    pub end: SharedEnd,
    /// The primary's t_i (eq. 1).
    pub earliest_end: Micros,
}

/// Ends that equal requests share; there is no error among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedEnd {
    Scored,
    TimedOut { stage: usize },
}

/// A waiter that runs now, and the requests that wait for it from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    pub request: RequestId,
    pub waiters: Vec<RequestId>,
}
