//! The JSON shapes of requests and their rewards: what is submitted, what is answered.

use crate::result::{ResultItem, StageTime};
use crate::view::RequestContext;
use assay_core::id::{Digest, RequestId};
use assay_core::outcome::Outcome;
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One request as a trainer submits it. Its `key` is unique in the batch, so that a repeated call
/// changes nothing.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitItem {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default)]
    pub prompt: String,
    pub response: String,
    /// The data set's answer as any JSON value; the plugin gets its JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub label: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubmitStatus {
    /// Committed by this call.
    Accepted,
    /// Committed by an earlier call under the same key; nothing was changed.
    Repeated,
    /// Not accepted; `problem` gives the reason.
    Rejected,
}

/// Result of one submitted item; the results have the order of the items.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Submitted {
    /// Key of the item; empty if the item could not be parsed.
    pub key: String,
    pub status: SubmitStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub id: Option<RequestId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ItemProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ItemProblem {
    /// Position of the item in the call, from 1 (its line number in NDJSON).
    pub line: u64,
    pub code: String,
    pub detail: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SubmitReply {
    pub accepted: u32,
    pub repeated: u32,
    pub rejected: u32,
    pub items: Vec<Submitted>,
}

/// `POST /v1/rewards`: one request, its outcome in the response.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RewardRequest {
    pub plugin: String,
    #[serde(default)]
    pub prompt: String,
    pub response: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub label: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub settings: Option<Box<RawValue>>,
    /// Whether equal requests share one computation, as in `POST /v1/batches`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_equal: Option<bool>,
}

#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Reward {
    #[schema(value_type = String)]
    pub id: RequestId,
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    #[schema(value_type = crate::schema::OutcomeSchema)]
    pub outcome: Outcome,
    pub stages: Vec<StageTime>,
    /// Id of the equal request that ran and whose outcome this request shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub shared_from: Option<RequestId>,
}

/// One request with everything that is stored about it.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Request {
    #[schema(value_type = String)]
    pub id: RequestId,
    pub key: String,
    pub group: Option<String>,
    pub prompt: String,
    pub response: String,
    #[schema(value_type = Option<Value>)]
    pub label: Option<Box<RawValue>>,
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Box<RawValue>>,
    #[schema(value_type = String)]
    pub arrived_at: Micros,
    /// Absent while the request waits or runs.
    pub result: Option<ResultItem>,
    /// The run, the batch and the stages of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RequestContext>,
}

/// One line of a plugin's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LogLine {
    pub stage: String,
    /// Level: `debug`, `info`, `warn`, `error`, or `stderr`.
    pub level: String,
    pub message: String,
}

/// `POST /v1/requests/{id}/replay`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayRequest {
    /// Version of the same plugin that runs the request; the request's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The outcome of a request that ran again with the same body, settings and seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Replay {
    #[schema(value_type = String)]
    pub request: RequestId,
    pub recorded: ReplaySide,
    pub replayed: ReplaySide,
    /// Whether kind, verdict and reward are equal.
    pub agrees: bool,
    /// Names of the values that differ: `kind`, `verdict`, `reward`.
    pub differences: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReplaySide {
    #[schema(value_type = String)]
    pub id: RequestId,
    /// `name@version`.
    pub plugin: String,
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    #[schema(value_type = crate::schema::OutcomeSchema)]
    pub outcome: Outcome,
    pub stages: Vec<StageTime>,
}
