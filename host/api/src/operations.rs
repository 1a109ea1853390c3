//! The JSON shapes of the running service: what is live, its workers, what went wrong lately, and how
//! pools moved. Shared by the server and its clients.

mod incident;
mod live;
mod pool_history;
mod worker;

pub use incident::{Incident, IncidentFilter, IncidentKind, IncidentPage};
pub use live::{EndedBatch, LiveDelta, LiveSnapshot};
pub use pool_history::{
    CapacityHistory, CapacityHistoryFilter, CapacitySample, PlanDecision, PoolHistory,
};
pub use worker::{Worker, WorkerList, WorkerRunning, WorkerState};

use serde::{Deserialize, Serialize};

use crate::batch::BatchState;
use crate::capacity::PoolCapacity;
use crate::result::Counts;
use assay_core::id::BatchId;
use assay_core::time::Micros;

/// `GET /v1/overview`: the live batches and their state in the scheduler.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Overview {
    /// Time of the scheduler's state.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Live batches, the most urgent first, at most 200.
    pub batches: Vec<LiveBatch>,
    /// Number of live batches, including those that are not listed.
    pub batches_total: u32,
    /// Waiting and running requests by plugin, stage and pool, including single requests.
    pub queue: Vec<StageQueue>,
    /// Pools; only with the scope `platform:*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<PoolCapacity>>,
    /// Incidents, as by `GET /v1/incidents?grouped=true&open=true`, the latest first, at most 20.
    pub incidents: Vec<Incident>,
}

/// A batch that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LiveBatch {
    /// Id of the batch.
    #[schema(value_type = String)]
    pub id: BatchId,
    /// Name of the tenant.
    pub tenant: String,
    /// Name of the run.
    pub run: String,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// `name@version`.
    pub plugin: String,
    /// State.
    pub state: BatchState,
    /// Numbers of ended requests by ending.
    pub counts: Counts,
    /// Expected number of requests; absent if the trainer gave none.
    pub expected_size: Option<u32>,
    /// Number of requests that wait now, also those that wait until memory for artifacts is free.
    pub queued: u32,
    /// Number of requests that run now.
    pub running: u32,
    /// Time of the announcement.
    #[schema(value_type = String)]
    pub announced_at: Micros,
    /// Time of the first request; absent before it.
    #[schema(value_type = Option<String>)]
    pub first_request_at: Option<Micros>,
    /// Time at which the latest request came.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub last_request_at: Option<Micros>,
    /// Time at which the last request could end without any waiting, as far as known now (the
    /// paper's T).
    #[schema(value_type = Option<String>)]
    pub earliest_end_at: Option<Micros>,
    /// Tolerated extra delay in milliseconds (the paper's D).
    pub tolerance_ms: f64,
    /// T + D.
    #[schema(value_type = Option<String>)]
    pub due_at: Option<Micros>,
    /// Time at which its last request is expected to end.
    #[schema(value_type = Option<String>)]
    pub estimated_done_at: Option<Micros>,
}

/// Requests at one stage of one plugin.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
pub struct StageQueue {
    /// `name@version`.
    pub plugin: String,
    /// Name of the stage.
    pub stage: String,
    /// Name of the pool.
    pub pool: String,
    /// Number of requests that wait, also those that wait until memory for artifacts is free.
    pub queued: u64,
    /// Number of requests that run.
    pub running: u64,
}

/// `GET /v1/queue`: the waiting requests of each pool.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct QueueList {
    /// Time of this state.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Sorted by name; pools without waiting requests are absent.
    pub pools: Vec<PoolQueue>,
}

/// The queue of a pool.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PoolQueue {
    /// Name of the pool.
    pub pool: String,
    /// Number of requests that wait for a worker.
    pub queued: u64,
    /// Number of waiting batches, including those that are not listed.
    pub batches_total: u32,
    /// Waiting batches in the order in which they are served within their tenant (earliest batch
    /// first), at most 50.
    pub batches: Vec<QueuedBatch>,
    /// Tenants with waiting requests or workers: those that wait, and those for which they wait. The one with the
    /// most workers comes first, at most 50.
    #[serde(default)]
    pub tenants: Vec<PoolTenant>,
}

/// A tenant's requests and workers of one pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PoolTenant {
    /// Name of the tenant.
    pub tenant: String,
    /// Number of requests that wait for a worker.
    pub queued: u64,
    /// Number of workers that serve the tenant.
    pub workers: u32,
    /// Maximum number of workers by the tenant's quota; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers_max: Option<u32>,
}

/// The waiting requests of one batch in one pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct QueuedBatch {
    /// Id of the batch.
    #[schema(value_type = String)]
    pub id: BatchId,
    /// Name of the tenant.
    pub tenant: String,
    /// Name of the run.
    pub run: String,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// Time T as far as known now, by which the batches are sorted.
    #[schema(value_type = Option<String>)]
    pub earliest_end_at: Option<Micros>,
    /// Number of requests that wait for a worker.
    pub queued: u32,
    /// Number of requests that run.
    pub running: u32,
}
