//! What completed batches leave: the JSON shapes of `/v1/batches/{id}/profile` and of
//! `/v1/runs/{run}/history`, shared by the server and its clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use assay_core::id::{BatchId, Digest};
use assay_core::time::Micros;

/// A completed batch in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchHistory {
    #[schema(value_type = String)]
    pub id: BatchId,
    pub run: String,
    pub iteration: u64,
    /// `name@version`.
    pub plugin: String,
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    pub requests: u32,
    #[schema(value_type = String)]
    pub announced_at: Micros,
    #[schema(value_type = String)]
    pub first_request_at: Micros,
    /// Time at which the last request could have ended without any waiting (the paper's T).
    #[schema(value_type = String)]
    pub earliest_end_at: Micros,
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
    pub items: Vec<BatchHistory>,
}

/// `GET /v1/batches/{id}/profile`: arrival and run times of the requests of a completed batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchProfile {
    pub batch: BatchHistory,
    pub stages: Vec<ProfileStage>,
    /// In the order of completion.
    pub requests: Vec<RequestProfile>,
}

/// A stage as it was when the batch ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProfileStage {
    pub name: String,
    pub pool: String,
    pub timeout_ms: u32,
    pub retries_max: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestProfile {
    /// Position in the order of admission; absent when the outcome was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
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
