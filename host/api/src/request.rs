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
    /// Key of the item, unique in the batch; an item with a known key is a repeat.
    pub key: String,
    /// Name of the item's group, such as its prompt's id; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The prompt.
    #[serde(default)]
    pub prompt: String,
    /// The response.
    pub response: String,
    /// The data set's answer as any JSON value; the plugin gets its JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub label: Option<Box<RawValue>>,
    /// Metadata for the plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Box<RawValue>>,
    /// Time that the reward is expected to take once a worker has the request, all stages together, in milliseconds, up to
    /// a day; absent, it counts as long as requests of the run usually take. Where whole batches are waited for, the longest
    /// waiting request of a batch is served first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_ms: Option<u32>,
}

/// The result of the submission of an item.
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
    /// The result for this item.
    pub status: SubmitStatus,
    /// Id of the request; absent if the item was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub id: Option<RequestId>,
    /// Reason of a rejection; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ItemProblem>,
}

/// The reason why an item was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ItemProblem {
    /// Position of the item in the call, from 1 (its line number in NDJSON).
    pub line: u64,
    /// Stable code of the error.
    pub code: String,
    /// Description as a sentence.
    pub detail: String,
}

/// The answer to a submission.
#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SubmitReply {
    /// Number of items that were accepted.
    pub accepted: u32,
    /// Number of items that are repeats of known ones.
    pub repeated: u32,
    /// Number of items that were rejected.
    pub rejected: u32,
    /// The result of each item, in order.
    pub items: Vec<Submitted>,
}

/// `POST /v1/rewards`: one request, its outcome in the response.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RewardRequest {
    /// `name@channel` or `name@version`.
    pub plugin: String,
    /// The prompt.
    #[serde(default)]
    pub prompt: String,
    /// The response.
    pub response: String,
    /// The label, which the plugin compares with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub label: Option<Box<RawValue>>,
    /// Metadata for the plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Box<RawValue>>,
    /// Settings of the plugin; `{}` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub settings: Option<Box<RawValue>>,
    /// Whether equal requests share one computation, as in `POST /v1/batches`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_equal: Option<bool>,
}

/// The answer to a single request.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Reward {
    /// Id of the request.
    #[schema(value_type = String)]
    pub id: RequestId,
    /// SHA-256 of the plugin's component.
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    /// The outcome.
    #[schema(value_type = crate::schema::OutcomeSchema)]
    pub outcome: Outcome,
    /// Times of the stages that ran.
    pub stages: Vec<StageTime>,
    /// Id of the equal request that ran and whose outcome this request shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub shared_from: Option<RequestId>,
    /// Id of the trace that the request was recorded in, for OpenTelemetry; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

/// One request with everything that is stored about it.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Request {
    /// Id of the request.
    #[schema(value_type = String)]
    pub id: RequestId,
    /// Key of the request, which is unique in its batch.
    pub key: String,
    /// Name of the group; absent without one.
    pub group: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// The response.
    pub response: String,
    /// The label, which the plugin compares with.
    #[schema(value_type = Option<Value>)]
    pub label: Option<Box<RawValue>>,
    /// Metadata for the plugin.
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Box<RawValue>>,
    /// Time of the arrival.
    #[schema(value_type = String)]
    pub arrived_at: Micros,
    /// The result; absent while the request waits or runs.
    pub result: Option<ResultItem>,
    /// The run, the batch and the stages of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RequestContext>,
}

/// One line of a plugin's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LogLine {
    /// Name of the stage.
    pub stage: String,
    /// Level: `debug`, `info`, `warn`, `error`, or `stderr`.
    pub level: String,
    /// The message.
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
    /// Id of the recorded request.
    #[schema(value_type = String)]
    pub request: RequestId,
    /// The recorded computation.
    pub recorded: ReplaySide,
    /// The new computation.
    pub replayed: ReplaySide,
    /// Whether kind, verdict and reward are equal.
    pub agrees: bool,
    /// Names of the values that differ: `kind`, `verdict`, `reward`.
    pub differences: Vec<String>,
}

/// One of the two computations of a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReplaySide {
    /// Id of the request.
    #[schema(value_type = String)]
    pub id: RequestId,
    /// `name@version`.
    pub plugin: String,
    /// SHA-256 of the plugin's component.
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    /// The outcome.
    #[schema(value_type = crate::schema::OutcomeSchema)]
    pub outcome: Outcome,
    /// Times of the stages that ran.
    pub stages: Vec<StageTime>,
}
