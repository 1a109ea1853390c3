//! The JSON shapes of `/v1/simulations`, shared by the server and its clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::BatchId;

/// `POST /v1/simulations`: the planner on what really came, with other settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SimulationRequest {
    /// A completed batch; the batches of its run before it are the history that the planner has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub batch: Option<BatchId>,
    /// In place of a batch: the last batches of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// `assay` (when absent), `distrs`, `history`, `zq`, `ideal`, `limit`, `fixed` (as many workers
    /// as `pools_max` says) or `fixed:STAGE=N,...`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// By pool: the most workers of each of its stages; as now where it is silent.
    #[serde(default)]
    pub pools_max: BTreeMap<String, u32>,
    /// The paper's D; the batch's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance_ms: Option<u32>,
    /// By pool: how long a worker takes to start; as measured lately where it is silent.
    #[serde(default)]
    pub startup_ms: BTreeMap<String, u32>,
}

/// What would have become of recorded batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Simulation {
    pub policy: String,
    pub tolerance_ms: f64,
    /// Batches that were replayed, those that are history only included.
    pub batches_replayed: u32,
    pub requests_replayed: u32,
    /// The run's first batch has none before it: it was its own history.
    pub own_history: bool,
    pub simulated_in_ms: f64,
    /// In the order of time.
    pub batches: Vec<SimulatedBatch>,
    /// A stage of the plugin each, over the whole time that is simulated.
    pub stages: Vec<SimulatedStage>,
}

/// One batch as it was and as it would have been.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimulatedBatch {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: BatchId,
    pub iteration: u64,
    pub requests: u32,
    /// From its announcement to T, which no policy changes.
    pub earliest_end_ms: f64,
    /// From its announcement on.
    pub end_ms: f64,
    /// The paper's d.
    pub extra_delay_ms: f64,
    pub late: bool,
    pub actual_end_ms: f64,
    pub actual_extra_delay_ms: f64,
}

/// Workers of one stage. Where several stages share a pool, each has workers of its own here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimulatedStage {
    pub stage: String,
    pub pool: String,
    /// From when each worker was asked for until it was stopped.
    pub worker_seconds: f64,
    pub busy_seconds: f64,
    pub starting_seconds: f64,
    pub cost: f64,
    pub workers_peak: u32,
    pub starts: u32,
    /// For how long workers of the stage really ran the simulated batches.
    pub actual_busy_seconds: f64,
    /// 500 at most; each holds until the next.
    pub curve: Vec<SimulatedPoint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimulatedPoint {
    /// From the announcement of the first simulated batch on; below zero before it.
    pub at_ms: f64,
    /// Starting or joined.
    pub workers: u32,
    pub busy: u32,
    pub queued: u32,
}
