//! The JSON shapes of `/v1/simulations`, shared by the server and its clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use assay_core::id::BatchId;

/// `POST /v1/simulations`: replays recorded batches with other settings of the planner.
#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulationRequest {
    /// Id of a completed batch; earlier batches of its run are the planner's history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub batch: Option<BatchId>,
    /// Name of a run whose last batches are replayed, instead of a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// `assay` (when absent), `distrs`, `history`, `zq`, `ideal`, `limit`, `fixed` (as many workers
    /// as `pools_max` says) or `fixed:STAGE=N,...`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Maximum number of workers of each stage, by pool; the current maximum where a pool is
    /// absent, or the peak of the batches where that is 0.
    #[serde(default)]
    pub pools_max: BTreeMap<String, u32>,
    /// Tolerated extra delay in milliseconds (the paper's D); the batch's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance_ms: Option<u32>,
    /// Start time of a worker in milliseconds, by pool; the recently measured time where a pool is
    /// absent.
    #[serde(default)]
    pub startup_ms: BTreeMap<String, u32>,
}

/// The simulated ends of recorded batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Simulation {
    /// Name of the policy.
    pub policy: String,
    /// Tolerated extra delay, in milliseconds (the paper's D).
    pub tolerance_ms: f64,
    /// Number of replayed batches, including those that only served as history.
    pub batches_replayed: u32,
    /// Number of replayed requests.
    pub requests_replayed: u32,
    /// Whether the batch was the first of its run and therefore its own history.
    pub own_history: bool,
    /// Time that the simulation took, in milliseconds.
    pub simulated_in_ms: f64,
    /// The simulated batches, the oldest first.
    pub batches: Vec<SimulatedBatch>,
    /// Workers of each stage of the plugin over the whole simulated time.
    pub stages: Vec<SimulatedStage>,
}

/// One batch as it was and as it would have been.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SimulatedBatch {
    /// Id of the batch.
    #[schema(value_type = String)]
    pub id: BatchId,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// Number of requests.
    pub requests: u32,
    /// Time from its announcement to T in milliseconds; it is the same for every policy.
    pub earliest_end_ms: f64,
    /// Time from its announcement to its simulated end, in milliseconds.
    pub end_ms: f64,
    /// Simulated extra delay, in milliseconds (the paper's d).
    pub extra_delay_ms: f64,
    /// Whether it ended later than T + D in the simulation.
    pub late: bool,
    /// Time from its announcement to its actual end, in milliseconds.
    pub actual_end_ms: f64,
    /// Actual extra delay, in milliseconds.
    pub actual_extra_delay_ms: f64,
}

/// Workers of one stage. Stages that share a pool have separate workers in the simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SimulatedStage {
    /// Name of the stage.
    pub stage: String,
    /// Name of the pool.
    pub pool: String,
    /// Seconds from the request for each worker to its stop, summed up.
    pub worker_seconds: f64,
    /// Seconds for which workers were busy, summed up.
    pub busy_seconds: f64,
    /// Seconds for which workers started, summed up.
    pub starting_seconds: f64,
    /// Cost of the worker seconds.
    pub cost: f64,
    /// Maximum number of workers at one time.
    pub workers_peak: u32,
    /// Number of workers that were started.
    pub starts: u32,
    /// Seconds for which workers of the stage were busy with these batches in reality.
    pub actual_busy_seconds: f64,
    /// Points in the order of time, at most 500; each holds until the next one.
    pub curve: Vec<SimulatedPoint>,
}

/// A point of the curve of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SimulatedPoint {
    /// Time since the announcement of the first simulated batch, in milliseconds; negative before
    /// it.
    pub at_ms: f64,
    /// Number of workers, including those that start.
    pub workers: u32,
    /// Number of busy workers.
    pub busy: u32,
    /// Number of waiting requests.
    pub queued: u32,
}
