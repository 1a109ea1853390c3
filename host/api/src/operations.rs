//! The JSON shapes of the running service: what is live, its workers, what went wrong lately, and how
//! pools moved. Shared by the server and its clients.

mod live;

pub use live::{EndedBatch, LiveDelta, LiveSnapshot};

use serde::{Deserialize, Serialize};

use crate::acknowledgement::Acknowledgement;
use crate::batch::BatchState;
use crate::capacity::PoolCapacity;
use crate::result::Counts;
use assay_core::id::{BatchId, RequestId, TicketId};
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
    /// Its name.
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
    /// Number of requests that wait for a worker now.
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
    /// Time at which its last request is expected to end if no request waits any more.
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
    /// Number of requests that wait for a worker.
    pub queued: u64,
    /// Number of requests that run.
    pub running: u64,
}

/// A fault that was noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Incident {
    /// Id of the incident.
    pub id: i64,
    /// Time of its latest occurrence.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Name of the tenant; absent for incidents of the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Kind of the incident.
    pub kind: IncidentKind,
    /// Name of the pool; absent if it concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Id of the batch; absent if it concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub batch: Option<BatchId>,
    /// Name of the run; absent if it concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Error code of the failed requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Number of affected workers or requests; for an entry for several batches, the number of
    /// batches.
    pub count: u32,
    /// Description as a sentence.
    pub detail: String,
    /// The acknowledgement; absent while nobody has acknowledged the incident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledgement>,
}

/// The kind of an incident.
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
pub enum IncidentKind {
    /// A worker's process or its connection ended unexpectedly.
    WorkerDied,
    /// A stage ran past its deadline, and its worker was killed.
    WorkerKilled,
    /// A worker could not be started.
    WorkerStartFailed,
    /// A stage was ended and is tried again, because the machine kept its worker waiting for a processor.
    WorkerStarved,
    /// A batch ended later than T + D.
    BatchLate,
    /// Requests of a batch ended as errors.
    RequestsFailed,
    /// A trainer got an answer without a reward, and its own code may write a number in its place.
    RewardMissing,
    /// All requests of an open batch have ended, and none has come for minutes.
    TrainerSilent,
}

impl IncidentKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::WorkerDied,
        Self::WorkerKilled,
        Self::WorkerStartFailed,
        Self::WorkerStarved,
        Self::BatchLate,
        Self::RequestsFailed,
        Self::RewardMissing,
        Self::TrainerSilent,
    ];

    /// The name of the kind in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WorkerDied => "worker_died",
            Self::WorkerKilled => "worker_killed",
            Self::WorkerStartFailed => "worker_start_failed",
            Self::WorkerStarved => "worker_starved",
            Self::BatchLate => "batch_late",
            Self::RequestsFailed => "requests_failed",
            Self::RewardMissing => "reward_missing",
            Self::TrainerSilent => "trainer_silent",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// `GET /v1/incidents`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct IncidentPage {
    /// The latest first.
    pub items: Vec<Incident>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    pub next: Option<i64>,
}

/// Filters for incidents; an incident must match all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct IncidentFilter {
    /// Whether all tenants are included; needs the scope `platform:*`.
    #[serde(default)]
    #[param(required = false)]
    pub all: bool,
    /// Start of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub from: Option<Micros>,
    /// End of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub to: Option<Micros>,
    /// Only incidents of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<IncidentKind>,
    /// Only incidents of the run of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Whether incidents of the same tenant, kind, pool, run and code are one item: the latest of them,
    /// with the sum of the counts. Only the last 1,000 incidents are grouped, into one page.
    #[serde(default)]
    #[param(required = false)]
    pub grouped: bool,
    /// Whether acknowledged incidents are left out.
    #[serde(default)]
    #[param(required = false)]
    pub open: bool,
    /// Cursor of a page; only older incidents are returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// Maximum number of items: 100 when absent, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

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
    /// Launcher of the worker: `process` for a child process of the server, `slurm` for a job of Slurm, `joined`
    /// for a worker that joined by itself.
    pub launcher: String,
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
    /// Its name.
    pub tenant: String,
    /// `name@version`.
    pub plugin: String,
    /// Name of the stage.
    pub stage: String,
    /// Time since which it runs.
    #[schema(value_type = String)]
    pub since: Micros,
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

/// Filters for the history of pools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CapacityHistoryFilter {
    /// Name of the pool; all pools when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Start of the history; one hour before `to` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub from: Option<Micros>,
    /// End of the history; now when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub to: Option<Micros>,
}

/// `GET /v1/capacity/history`: kept for 7 days.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CapacityHistory {
    /// Start of the period.
    #[schema(value_type = String)]
    pub from: Micros,
    /// End of the period.
    #[schema(value_type = String)]
    pub to: Micros,
    /// Sorted by name.
    pub pools: Vec<PoolHistory>,
}

/// The samples and plans of a pool.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PoolHistory {
    /// Name of the pool.
    pub pool: String,
    /// Samples in the order of time, at most 500; each holds until the next one.
    pub samples: Vec<CapacitySample>,
    /// Changes of the target, the latest first, at most 100.
    pub decisions: Vec<PlanDecision>,
}

/// State of a pool; each number is the maximum within the sample's period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CapacitySample {
    /// Time of the sample.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Number of busy workers and waiting requests.
    pub demand: u32,
    /// Number of workers with which no request would wait; absent before the first plan.
    pub zero_queue: Option<u32>,
    /// Number of workers that were kept even when idle; absent before the first plan.
    pub hold: Option<u32>,
    /// Number of workers up to which demand could raise the pool; absent before the first plan.
    pub ceiling: Option<u32>,
    /// Number of workers that start.
    pub starting: u32,
    /// Number of idle workers.
    pub idle: u32,
    /// Number of busy workers.
    pub busy: u32,
    /// Number of workers that finish their leases, get no new ones, and end.
    pub draining: u32,
    /// Number of requests that waited for a worker.
    pub queued: u32,
    /// Cost of the pool's workers per second, including those that start.
    pub cost: f64,
}

/// A change of the planner's target for a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PlanDecision {
    /// Time of the plan.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Number of workers that are kept even when they are idle.
    pub hold: u32,
    /// Number of workers up to which demand may raise the pool.
    pub ceiling: u32,
    /// Target before the change; absent if unknown.
    pub hold_before: Option<u32>,
    /// Ceiling before the change; absent if unknown.
    pub ceiling_before: Option<u32>,
    /// The reason as a sentence.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_survive_their_text() {
        for kind in IncidentKind::ALL {
            assert_eq!(IncidentKind::parse(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_value(kind).expect("plain"), kind.as_str());
        }
    }
}
