//! What completed batches leave: the JSON shapes of `/v1/batches/{id}/profile` and of
//! `/v1/runs/{run}/history`, shared by the server and its clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{BatchId, Digest};
use crate::time::Micros;

/// A completed batch in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchHistory {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: BatchId,
    pub run: String,
    pub iteration: u64,
    /// `name@version`.
    pub plugin: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub plugin_digest: Digest,
    pub requests: u32,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub announced_at: Micros,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub first_request_at: Micros,
    /// The paper's T: when the last request could have ended, had none ever waited.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub earliest_end_at: Micros,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub done_at: Micros,
    /// The paper's d: how much later than T the batch ended.
    pub extra_delay_ms: f64,
    /// For how long workers of each pool were busy with it.
    pub worker_seconds: BTreeMap<String, f64>,
}

/// `GET /v1/runs/{run}/history`: completed batches of a run, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunHistory {
    pub items: Vec<BatchHistory>,
}

/// `GET /v1/batches/{id}/profile`: when the requests of a completed batch came and how long they
/// ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchProfile {
    pub batch: BatchHistory,
    pub stages: Vec<ProfileStage>,
    /// In the order of completion.
    pub requests: Vec<RequestProfile>,
}

/// A stage as it was when the batch ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileStage {
    pub name: String,
    pub pool: String,
    pub timeout_ms: u32,
    pub retries_max: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestProfile {
    /// Place in the order of admission; absent when the outcome is no longer kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The paper's r_i: from the batch's first request to this one.
    pub arrived_ms: f64,
    /// The paper's s_ij, a stage each; null where the stage was not reached.
    pub ran_ms: Vec<Option<f64>>,
    /// `scored`, `timed_out` or `error`.
    pub outcome: String,
    /// The word for what happened: the plugin's verdict, `timed_out`, or the error's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}
