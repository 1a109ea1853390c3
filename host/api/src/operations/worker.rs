//! The JSON shapes of workers.

use serde::{Deserialize, Serialize};

use assay_core::id::{BatchId, RequestId, TicketId};
use assay_core::time::Micros;

/// `GET /v1/workers`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WorkerList {
    /// Time of this state.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Sorted by pool and id; workers that start come first in each pool.
    pub items: Vec<Worker>,
}

/// A worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Worker {
    /// Id of the worker; absent until it has joined.
    pub id: Option<u64>,
    /// Identity of the worker from its start to its end.
    #[schema(value_type = String)]
    pub ticket: TicketId,
    /// Name of the pool.
    pub pool: String,
    /// State of the worker.
    pub state: WorkerState,
    /// Launcher of the worker: `process` for a child process of the server, `slurm` for a job of Slurm, `kubernetes` for a
    /// Pod, `joined` for a worker that joined by itself.
    pub launcher: String,
    /// Architecture of its CPU: `x86_64` or `aarch64`; absent while it starts.
    pub architecture: Option<String>,
    /// Process id, if the launcher runs it on the server's machine.
    pub pid: Option<u32>,
    /// Time at which the worker was requested.
    #[schema(value_type = Option<String>)]
    pub asked_at: Option<Micros>,
    /// Time at which the worker joined; absent while it starts.
    #[schema(value_type = Option<String>)]
    pub joined_at: Option<Micros>,
    /// Time of its last message.
    #[schema(value_type = Option<String>)]
    pub heard_at: Option<Micros>,
    /// Number of leases: one is running, the others are prefetched.
    pub in_hand: u32,
    /// The stage that it runs; absent if it runs none.
    pub running: Option<WorkerRunning>,
    /// Number of stages that it finished.
    pub stages_done: u64,
    /// Resident memory of its process, in bytes.
    pub memory_bytes: Option<u64>,
}

/// The state of a worker.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It was requested and has not joined.
    Starting,
    /// It has no lease.
    Idle,
    /// It runs a stage.
    Busy,
    /// It finishes its leases, gets no new ones, and ends.
    Draining,
}

/// The stage that a worker runs now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WorkerRunning {
    /// Id of the request.
    #[schema(value_type = String)]
    pub request: RequestId,
    /// Id of the batch.
    #[schema(value_type = String)]
    pub batch: BatchId,
    /// Name of the tenant.
    pub tenant: String,
    /// `name@version`.
    pub plugin: String,
    /// Name of the stage.
    pub stage: String,
    /// Time since which it runs.
    #[schema(value_type = String)]
    pub since: Micros,
}
