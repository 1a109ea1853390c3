//! The actions that the scheduler asks for.

use std::sync::Arc;

use assay_core::id::{BatchId, LeaseId, RequestId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;

use crate::profile::{Ending, Profile};

/// Named in the imperative; the dispatcher or the simulator carries them out in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Give a lease to a worker.
    Grant(Grant),
    /// Take back a lease that its worker has not been seen to start. Its answer, should one still
    /// come, is refused by its token.
    Revoke {
        /// The worker that holds it.
        worker: WorkerId,
        /// The lease.
        lease: LeaseId,
    },
    /// The stage or the load of its plugin ran past its deadline: kill the process. Its leases are already taken back.
    KillWorker {
        /// The worker whose process is killed.
        worker: WorkerId,
        /// The deadline that has passed.
        reason: KillReason,
    },
    /// A tenant that has no worker needs one: kill the process of this worker, which serves a tenant with
    /// several. Its leases are already taken back, and no try is counted.
    PreemptWorker {
        /// The worker whose process is killed.
        worker: WorkerId,
    },
    /// A stage ended in `next`: keep the artifact for `stage + 1`.
    Advance {
        /// The request.
        request: RequestId,
        /// The stage that ended, from 0.
        stage: usize,
        /// Its times at that stage.
        time: StageTiming,
    },
    /// A request has ended: write its outcome.
    Finish(Finish),
    /// Every request of a group has ended.
    GroupDone {
        /// The batch of the group.
        batch: BatchId,
        /// The shell's number of the group.
        group: u32,
    },
    /// A batch has ended.
    BatchDone(BatchDone),
    /// Start this many workers for the pool; each is answered by `WorkerJoined` or `StartFailed`.
    StartWorkers {
        /// The pool.
        pool: Arc<str>,
        /// The number of workers.
        count: usize,
    },
    /// Give up this many starts that were not answered yet, the latest first; they are answered
    /// no more.
    CancelStarts {
        /// The pool.
        pool: Arc<str>,
        /// The number of starts.
        count: usize,
    },
    /// Stop this worker: it holds no lease and gets no more.
    StopWorker {
        /// The worker.
        worker: WorkerId,
    },
    /// Stop this worker: it is slow, holds no lease and gets no more.
    StopSlowWorker {
        /// The worker.
        worker: WorkerId,
    },
    /// Call the planner with [`crate::Sched::view`] and report its plan as `Planned`.
    PlanAnew,
    /// The batch's expected end moved.
    Estimate {
        /// The batch.
        batch: BatchId,
        /// The time at which it is expected to end.
        done_at: Micros,
    },
    /// Send a tick no later than this. One tick answers all that were asked for before it: what is
    /// still to come then is asked for anew.
    WakeAt(Micros),
}

/// A lease: the right of a worker to run one stage of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// The worker that gets it.
    pub worker: WorkerId,
    /// Its token; larger than every token before.
    pub lease: LeaseId,
    /// The request that runs.
    pub request: RequestId,
    /// The stage that runs, from 0.
    pub stage: usize,
    /// The number of the attempt, from 1, over all tries of this stage.
    pub attempt: u32,
    /// Whether another worker runs the stage already: the first answer of the two counts.
    pub hedge: bool,
}

/// One request's time at one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageTiming {
    /// The stage, from 0.
    pub stage: usize,
    /// The time from ready to the grant that finished it.
    pub queued: Micros,
    /// The time that its last attempt ran.
    pub ran: Micros,
    /// The attempts, from 1.
    pub attempts: u32,
}

/// The end of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// The request.
    pub request: RequestId,
    /// The ending of the request.
    pub end: FinalEnd,
    /// The stages that ran to an end since the scheduler heard of the request.
    pub stages: Vec<StageTiming>,
    /// The paper's t_i (eq. 1).
    pub earliest_end: Micros,
}

/// How a request ended, without what the plugin returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalEnd {
    /// The shell holds the reward.
    Scored,
    /// A stage ran into its timeout.
    TimedOut {
        /// The stage, from 0.
        stage: usize,
    },
    /// It has no reward.
    Error {
        /// The reason.
        code: ErrorCode,
        /// The attempts of the stage that failed.
        attempts: u32,
    },
}

impl FinalEnd {
    /// Whether its last try was lost: with its worker, or because the machine kept the worker waiting.
    pub(crate) fn is_lost(self) -> bool {
        matches!(self, Self::Error { code: ErrorCode::LeaseExpired | ErrorCode::WorkerLost, .. })
    }

    pub(crate) fn ending(self) -> Ending {
        match self {
            Self::Scored => Ending::Scored,
            Self::TimedOut { .. } => Ending::TimedOut,
            Self::Error { .. } => Ending::Error,
        }
    }
}

/// The end of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchDone {
    /// The batch.
    pub batch: BatchId,
    /// The ending of the batch.
    pub ending: BatchEnding,
    /// The paper's T (eq. 2), `None` for a batch without finished requests.
    pub earliest_end: Option<Micros>,
    /// The end of the last request, however much later the batch was sealed; of a batch without requests, its own end.
    /// `ended - earliest_end` is the extra delay d.
    pub ended: Micros,
    /// The profile from which the planner learns; only if the batch is done.
    pub profile: Option<Arc<Profile>>,
}

/// The deadline that a worker has missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillReason {
    /// That of the running stage.
    Stage,
    /// That of the load of its plugin.
    Load,
}

/// How a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchEnding {
    /// Sealed or complete, and every request ended.
    Done,
    /// Its client cancelled it.
    Cancelled,
    /// Nothing happened to it for too long.
    Expired,
}
