//! The history of completed batches: the JSON shapes of `/v1/batches/{id}/profile` and of
//! `/v1/runs/{run}/history`, shared by the server and its clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use assay_core::id::{BatchId, Digest};
use assay_core::time::Micros;

/// A completed batch in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchHistory {
    /// Id of the batch.
    #[schema(value_type = String)]
    pub id: BatchId,
    /// Name of the run.
    pub run: String,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// `name@version`.
    pub plugin: String,
    /// SHA-256 of the plugin's component.
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    /// Number of requests.
    pub requests: u32,
    /// Time of the announcement.
    #[schema(value_type = String)]
    pub announced_at: Micros,
    /// Time of the first request; absent before it.
    #[schema(value_type = String)]
    pub first_request_at: Micros,
    /// Time at which the last request could have ended without any waiting (the paper's T).
    #[schema(value_type = String)]
    pub earliest_end_at: Micros,
    /// Time at which the last request ended; absent before it.
    #[schema(value_type = String)]
    pub done_at: Micros,
    /// Time from T to the end of the batch, in milliseconds (the paper's d).
    pub extra_delay_ms: f64,
    /// Seconds for which workers were busy with the batch, by pool.
    pub worker_seconds: BTreeMap<String, f64>,
}

/// `GET /v1/runs/{run}/history`: completed batches of a run, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunHistory {
    /// The batches.
    pub items: Vec<BatchHistory>,
}

/// `GET /v1/batches/{id}/profile`: arrival and run times of the requests of a completed batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchProfile {
    /// The batch.
    pub batch: BatchHistory,
    /// The stages of the plugin, in order.
    pub stages: Vec<ProfileStage>,
    /// The requests in the order of completion.
    pub requests: Vec<RequestProfile>,
}

/// A stage as it was when the batch ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProfileStage {
    /// Name of the stage.
    pub name: String,
    /// Name of the pool.
    pub pool: String,
    /// Timeout of the stage, in milliseconds.
    pub timeout_ms: u32,
    /// Maximum number of retries of the stage.
    pub retries_max: u32,
}

/// The times of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestProfile {
    /// Position in the order of admission; absent when the outcome was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    /// Name of the group; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Time from the first request of the batch to this one, in milliseconds (the paper's r_i).
    pub arrived_ms: f64,
    /// Run time of each stage, in milliseconds (the paper's s_ij); null where the stage was not
    /// reached.
    pub ran_ms: Vec<Option<f64>>,
    /// `scored`, `timed_out` or `error`.
    pub outcome: String,
    /// The plugin's verdict, `timed_out`, or the error's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}
