//! The actions that the scheduler asks for.

use std::sync::Arc;

use assay_core::id::{BatchId, LeaseId, RequestId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;

use crate::profile::{Ending, Profile};

/// Named in the imperative; the dispatcher or the simulator carries them out in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Grant(Grant),
    /// Take back a lease that its worker has not been seen to start. Its answer, should one still
    /// come, is refused by its token.
    Revoke {
        worker: WorkerId,
        lease: LeaseId,
    },
    /// The stage ran past its deadline: kill the process. Its leases are already taken back.
    KillWorker {
        worker: WorkerId,
    },
    /// A stage ended in `next`: keep the artifact for `stage + 1`.
    Advance {
        request: RequestId,
        stage: usize,
        time: StageTiming,
    },
    Finish(Finish),
    GroupDone {
        batch: BatchId,
        group: u32,
    },
    BatchDone(BatchDone),
    /// Start this many workers for the pool; each is answered by `WorkerJoined` or `StartFailed`.
    StartWorkers {
        pool: Arc<str>,
        count: usize,
    },
    /// Give up this many starts that were not answered yet, the latest first; they are answered
    /// no more.
    CancelStarts {
        pool: Arc<str>,
        count: usize,
    },
    /// Stop this worker: it holds no lease and gets no more.
    StopWorker {
        worker: WorkerId,
    },
    /// Call the planner with [`crate::Sched::view`] and report its plan as `Planned`.
    PlanAnew,
    /// The batch's expected end moved.
    Estimate {
        batch: BatchId,
        done_at: Micros,
    },
    /// Send a tick no later than this. One tick answers all that were asked for before it: what is
    /// still to come then is asked for anew.
    WakeAt(Micros),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    pub worker: WorkerId,
    pub lease: LeaseId,
    pub request: RequestId,
    pub stage: usize,
    /// From 1, over all tries of this stage.
    pub attempt: u32,
}

/// One request's time at one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageTiming {
    pub stage: usize,
    /// From ready to the grant that finished it.
    pub queued: Micros,
    pub ran: Micros,
    pub attempts: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    pub request: RequestId,
    pub end: FinalEnd,
    /// The stages that ran to an end since the scheduler heard of the request.
    pub stages: Vec<StageTiming>,
    /// The paper's t_i (eq. 1).
    pub earliest_end: Micros,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalEnd {
    /// The shell holds the reward.
    Scored,
    TimedOut {
        stage: usize,
    },
    Error {
        code: ErrorCode,
        attempts: u32,
    },
}

impl FinalEnd {
    pub(crate) fn ending(self) -> Ending {
        match self {
            Self::Scored => Ending::Scored,
            Self::TimedOut { .. } => Ending::TimedOut,
            Self::Error { .. } => Ending::Error,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct BatchDone {
    pub batch: BatchId,
    pub ending: BatchEnding,
    /// The paper's T (eq. 2), `None` for a batch without finished requests.
    pub earliest_end: Option<Micros>,
    /// When the last request ended; `ended - earliest_end` is the extra delay d.
    pub ended: Micros,
    /// What the planner learns from it; of a batch that is done.
    pub profile: Option<Arc<Profile>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchEnding {
    /// Sealed or complete, and every request ended.
    Done,
    Cancelled,
    /// Nothing happened to it for too long.
    Expired,
}
