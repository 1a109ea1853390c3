//! The JSON shapes of the running service: what is live, its workers, what went wrong lately, how
//! pools moved, and replays. Shared by the server and its clients.

use serde::{Deserialize, Serialize};

use crate::api::{BatchState, Counts, StageTime};
use crate::capacity::PoolCapacity;
use crate::id::{BatchId, Digest, RequestId};
use crate::outcome::Outcome;
use crate::time::Micros;

/// `GET /v1/overview`: what is live, as committed, and what the scheduler has of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Overview {
    /// When the scheduler was looked at.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    /// The most urgent first, 200 at most.
    pub batches: Vec<LiveBatch>,
    /// Live batches, those that are not listed included.
    pub batches_total: u32,
    /// By plugin, stage and pool: what waits and runs, single rewards included.
    pub queue: Vec<StageQueue>,
    /// With `platform:*` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<PoolCapacity>>,
    /// The latest first, 20 at most.
    pub incidents: Vec<Incident>,
}

/// A batch that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveBatch {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: BatchId,
    /// Its name.
    pub tenant: String,
    pub run: String,
    pub iteration: u64,
    /// `name@version`.
    pub plugin: String,
    pub state: BatchState,
    pub counts: Counts,
    pub expected_size: Option<u32>,
    /// Requests that wait for a worker now.
    pub queued: u32,
    /// Requests that workers run now.
    pub running: u32,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub announced_at: Micros,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub first_request_at: Option<Micros>,
    /// The paper's T as far as it is known now: when the last request could end, if none ever waited.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub earliest_end_at: Option<Micros>,
    /// The paper's D: how much later than T it may end.
    pub tolerance_ms: f64,
    /// T + D.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub due_at: Option<Micros>,
    /// When its last request is expected to end if nothing waits any more.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub estimated_done_at: Option<Micros>,
}

/// Requests at one stage of one plugin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageQueue {
    /// `name@version`.
    pub plugin: String,
    pub stage: String,
    pub pool: String,
    pub queued: u64,
    pub running: u64,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Incident {
    pub id: i64,
    /// The latest time that it counts.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    /// Its name; absent for the platform's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    pub kind: IncidentKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub batch: Option<BatchId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Of failed requests: the error's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// How often: workers, or requests; of further batches that share an entry, batches.
    pub count: u32,
    /// In words.
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum IncidentKind {
    /// A worker's process or its connection ended unasked.
    WorkerDied,
    /// A stage ran past its deadline, and its worker was killed.
    WorkerKilled,
    WorkerStartFailed,
    /// A batch ended later than T + D.
    BatchLate,
    /// Requests of a batch ended as errors.
    RequestsFailed,
}

impl IncidentKind {
    pub const ALL: [Self; 5] = [
        Self::WorkerDied,
        Self::WorkerKilled,
        Self::WorkerStartFailed,
        Self::BatchLate,
        Self::RequestsFailed,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WorkerDied => "worker_died",
            Self::WorkerKilled => "worker_killed",
            Self::WorkerStartFailed => "worker_start_failed",
            Self::BatchLate => "batch_late",
            Self::RequestsFailed => "requests_failed",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// `GET /v1/incidents`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IncidentPage {
    /// The latest first.
    pub items: Vec<Incident>,
    /// Give it as `after` for the page behind; absent when this is all.
    pub next: Option<i64>,
}

/// Which incidents are asked for; every filter narrows them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct IncidentFilter {
    /// Those of all tenants; needs `platform:*`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", param(required = false))]
    pub all: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub from: Option<Micros>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub to: Option<Micros>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<IncidentKind>,
    /// Go on behind this entry, with older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// At most this many; 100 when absent, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// `GET /v1/workers`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkerList {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    /// By pool, those that start first, then by id.
    pub items: Vec<Worker>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Worker {
    /// Absent until it has joined.
    pub id: Option<u64>,
    pub pool: String,
    pub state: WorkerState,
    /// Who starts and ends it: `local`, a process on the host's own machine.
    pub launcher: String,
    pub pid: Option<u32>,
    /// When it was asked for.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub asked_at: Option<Micros>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub joined_at: Option<Micros>,
    /// Its last message.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub heard_at: Option<Micros>,
    /// Leases in its hand: it runs one and holds the others ready.
    pub in_hand: u32,
    pub running: Option<WorkerRunning>,
    /// Stages that it ran to an end.
    pub stages_done: u64,
    /// Resident memory of its process.
    pub memory_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    Starting,
    Idle,
    Busy,
    /// It gets nothing more and ends.
    Draining,
}

/// What a worker runs right now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkerRunning {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub request: RequestId,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub batch: BatchId,
    /// Its name.
    pub tenant: String,
    /// `name@version`.
    pub plugin: String,
    pub stage: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub since: Micros,
}

/// `GET /v1/queue`: what waits in each pool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueueList {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    /// By name; pools in which nothing waits are absent.
    pub pools: Vec<PoolQueue>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolQueue {
    pub pool: String,
    pub queued: u64,
    /// Batches that wait, those that are not listed included.
    pub batches_total: u32,
    /// In the order in which they are served among those of their tenant (earliest batch first), 50
    /// at most.
    pub batches: Vec<QueuedBatch>,
}

/// What waits of one batch in one pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueuedBatch {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: BatchId,
    pub tenant: String,
    pub run: String,
    pub iteration: u64,
    /// By which it is ranked: T as far as it is known now.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub earliest_end_at: Option<Micros>,
    pub queued: u32,
    pub running: u32,
}

/// Which part of the history of pools is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct CapacityHistoryFilter {
    /// Its name; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// An hour before `to` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub from: Option<Micros>,
    /// Now when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub to: Option<Micros>,
}

/// `GET /v1/capacity/history`: kept for 7 days.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CapacityHistory {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub from: Micros,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub to: Micros,
    /// By name.
    pub pools: Vec<PoolHistory>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolHistory {
    pub pool: String,
    /// 500 at most, in the order of time; each holds until the next.
    pub samples: Vec<CapacitySample>,
    /// Changes of the target, the latest first, 100 at most.
    pub decisions: Vec<PlanDecision>,
}

/// How a pool stood: of each number the most within the sample's part of the time asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CapacitySample {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    /// Workers that there was work for: busy ones and requests that waited.
    pub demand: u32,
    /// Workers with which the plan saw no request wait; absent before the first plan.
    pub zero_queue: Option<u32>,
    pub hold: Option<u32>,
    pub ceiling: Option<u32>,
    pub starting: u32,
    pub idle: u32,
    pub busy: u32,
    pub draining: u32,
    pub queued: u32,
    /// What the pool's workers, those that start included, cost a second.
    pub cost: f64,
}

/// The planner's target of a pool changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanDecision {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    pub hold: u32,
    pub ceiling: u32,
    /// Absent where nothing earlier is known.
    pub hold_before: Option<u32>,
    pub ceiling_before: Option<u32>,
    /// The reason in words.
    pub why: String,
}

/// The event `snapshot` of `GET /v1/live`: all there is, to start from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveSnapshot {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    /// The most urgent first, 200 at most.
    pub batches: Vec<LiveBatch>,
    pub batches_total: u32,
    pub queue: Vec<StageQueue>,
    /// With `platform:*` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<PoolCapacity>>,
}

/// The event `delta` of `GET /v1/live`: what has changed, four times a second at most.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveDelta {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    /// Those that are new or changed; each replaces what was known of it.
    pub batches: Vec<LiveBatch>,
    pub batches_total: u32,
    /// They have ended since.
    pub ended: Vec<EndedBatch>,
    /// Live still, and no longer among the most urgent.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub left: Vec<BatchId>,
    /// The whole of it, where it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Vec<StageQueue>>,
    /// With `platform:*` alone: those that have changed.
    pub pools: Vec<PoolCapacity>,
    /// New ones and, with the same id, those that count more than before.
    pub incidents: Vec<Incident>,
}

/// A batch that has just ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EndedBatch {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: BatchId,
    /// Its name.
    pub tenant: String,
    pub run: String,
    pub iteration: u64,
    /// `name@version`.
    pub plugin: String,
    pub state: BatchState,
    pub counts: Counts,
    pub mean_reward: Option<f64>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub done_at: Option<Micros>,
    pub extra_delay_ms: Option<f64>,
}

/// `POST /v1/requests/{id}/replay`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayRequest {
    /// Another version of the same plugin; that of the request when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A request run again: the same body, settings and seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Replay {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub request: RequestId,
    pub recorded: ReplaySide,
    pub replayed: ReplaySide,
    /// Kind, verdict and reward are equal.
    pub agrees: bool,
    /// What is not equal: `kind`, `verdict`, `reward`.
    pub differences: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplaySide {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: RequestId,
    /// `name@version`.
    pub plugin: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub plugin_digest: Digest,
    pub outcome: Outcome,
    pub stages: Vec<StageTime>,
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
