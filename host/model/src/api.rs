//! The JSON shapes of the REST interface, shared by the server and its clients.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::id::{BatchId, Digest, KeyId, RequestId};
use crate::outcome::Outcome;
use crate::plugin::Stage;
pub use crate::result::{Counts, ResultItem, StageTime};
pub use crate::tenant::{CreateTenant, Tenant, TenantList};
use crate::time::Micros;
use crate::view::RequestContext;

/// `POST /v1/batches`: a rollout has started and a batch of requests will come.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AnnounceBatch {
    /// `name@channel`, `name@version`, or `tenant/name@...`.
    pub plugin: String,
    /// The training run; it keeps the plugin digest and settings of its first batch.
    pub run: String,
    #[serde(default)]
    pub iteration: u64,
    /// The batch is complete with this many requests, without a seal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_size: Option<u32>,
    /// Samples of one prompt; a group is complete with this many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_size: Option<u32>,
    /// The extra delay that the run tolerates (the paper's D).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_extra_delay_ms: Option<u32>,
    /// Whether requests that are equal share one computation, where the plugin is deterministic;
    /// they do unless this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_equal: Option<bool>,
    /// The plugin's settings for this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub settings: Option<Box<RawValue>>,
}

/// Life of a batch: `announced -> open -> sealed -> done | cancelled | expired`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BatchState {
    Announced,
    Open,
    Sealed,
    Done,
    Cancelled,
    Expired,
}

impl BatchState {
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Expired)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Batch {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: BatchId,
    pub state: BatchState,
    /// `name@version`.
    pub plugin: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub plugin_digest: Digest,
    pub run: String,
    pub iteration: u64,
    pub expected_size: Option<u32>,
    pub group_size: Option<u32>,
    pub max_extra_delay_ms: Option<u32>,
    pub counts: Counts,
    /// Over every request with a reward; absent while there is none.
    pub mean_reward: Option<f64>,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub announced_at: Micros,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub first_request_at: Option<Micros>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub sealed_at: Option<Micros>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub done_at: Option<Micros>,
    /// When the last request is expected to end.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub estimated_done_at: Option<Micros>,
    /// The paper's d: how much later the batch ended than its slowest request could have.
    pub extra_delay_ms: Option<f64>,
    /// Since when its requests and results are kept no longer; its totals stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub expired_at: Option<Micros>,
}

/// One request as a trainer submits it. `key` is unique in the batch: a repeat is harmless.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SubmitItem {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default)]
    pub prompt: String,
    pub response: String,
    /// The data set's answer, any JSON; the plugin gets its JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    pub label: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    pub metadata: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SubmitStatus {
    /// Committed by this call.
    Accepted,
    /// Committed before under the same key; nothing was changed.
    Repeated,
    /// Not taken; `problem` says why.
    Rejected,
}

/// What became of one item of a submit, in the items' order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Submitted {
    /// The item's key; empty when the item could not be read so far.
    pub key: String,
    pub status: SubmitStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub id: Option<RequestId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ItemProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ItemProblem {
    /// Place of the item in the call, from 1 (its line, in NDJSON).
    pub line: u64,
    pub code: String,
    pub detail: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SubmitReply {
    pub accepted: u32,
    pub repeated: u32,
    pub rejected: u32,
    pub items: Vec<Submitted>,
}

/// `POST /v1/batches/{id}/seal`: no more requests will come.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SealBatch {
    /// Refused when the batch has another number of requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_count: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResultsPage {
    pub items: Vec<ResultItem>,
    /// Give it as `after` for the next page.
    pub next: u32,
    /// Nothing will come behind this page.
    pub done: bool,
}

/// `POST /v1/rewards`: one request, its outcome in the response.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RewardRequest {
    pub plugin: String,
    #[serde(default)]
    pub prompt: String,
    pub response: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    pub label: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    pub metadata: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub settings: Option<Box<RawValue>>,
    /// As in `POST /v1/batches`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_equal: Option<bool>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reward {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: RequestId,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub plugin_digest: Digest,
    pub outcome: Outcome,
    pub stages: Vec<StageTime>,
    /// As in a batch's results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub shared_from: Option<RequestId>,
}

/// One request with all that is kept of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Request {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: RequestId,
    pub key: String,
    pub group: Option<String>,
    pub prompt: String,
    pub response: String,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    pub label: Option<Box<RawValue>>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    pub metadata: Option<Box<RawValue>>,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub arrived_at: Micros,
    /// Absent while the request waits or runs.
    pub result: Option<ResultItem>,
    /// Where it belongs and what it went through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RequestContext>,
}

/// One line that a plugin logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogLine {
    pub stage: String,
    /// `debug`, `info`, `warn`, `error`, or `stderr`.
    pub level: String,
    pub message: String,
}

/// One of a stream of server-sent events: its fields, as a client's parser tells them apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StreamEvent {
    pub event: String,
    /// To be sent back as `Last-Event-ID`, to go on behind this one.
    pub id: Option<String>,
    /// JSON.
    pub data: String,
}

/// One version of a plugin.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Plugin {
    pub name: String,
    pub version: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub digest: Digest,
    pub summary: String,
    pub stages: Vec<Stage>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    pub settings_schema: Option<Box<RawValue>>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    pub label_schema: Option<Box<RawValue>>,
    pub deterministic: bool,
    pub timeout_reward: f64,
    /// Channels that point to this version, such as `prod`.
    pub channels: Vec<String>,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub published_at: Micros,
    /// The name of the key, or the person's address; absent where it was not noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_by: Option<String>,
    /// Why no new run may pin this version; absent while it is not yanked.
    pub yanked: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginList {
    pub items: Vec<Plugin>,
}

/// `PUT /v1/plugins/{name}/channels/{channel}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PromotePlugin {
    pub version: String,
}

/// `POST /v1/plugins/{name}/versions/{version}/yank`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct YankPlugin {
    pub reason: String,
}

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Scope {
    #[serde(rename = "batches:write")]
    BatchesWrite,
    #[serde(rename = "batches:read")]
    BatchesRead,
    #[serde(rename = "plugins:publish")]
    PluginsPublish,
    #[serde(rename = "plugins:promote")]
    PluginsPromote,
    /// The key's own tenant: its keys and members, what it may use and did use, its audit.
    #[serde(rename = "admin:*")]
    Admin,
    /// All tenants and the platform: quotas, grants, weights, capacity, metrics, audit.
    #[serde(rename = "platform:*")]
    Platform,
}

impl Scope {
    pub const ALL: [Self; 6] = [
        Self::BatchesWrite,
        Self::BatchesRead,
        Self::PluginsPublish,
        Self::PluginsPromote,
        Self::Admin,
        Self::Platform,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BatchesWrite => "batches:write",
            Self::BatchesRead => "batches:read",
            Self::PluginsPublish => "plugins:publish",
            Self::PluginsPromote => "plugins:promote",
            Self::Admin => "admin:*",
            Self::Platform => "platform:*",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// The tenant's name; your own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    #[serde(default)]
    pub name: String,
    pub scopes: Vec<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub expires_at: Option<Micros>,
    /// Plugins whose batches it may announce, as `name` or `name@channel`; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<String>>,
}

/// `POST /v1/keys/{id}/rotate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RotateKey {
    /// How long the old secret works on; 24 when absent, 720 at most, 0 ends it at once.
    pub overlap_hours: u32,
}

impl Default for RotateKey {
    fn default() -> Self {
        Self { overlap_hours: crate::limits::KEY_OVERLAP_HOURS_DEFAULT }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Key {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: KeyId,
    pub tenant: String,
    pub name: String,
    /// The public part of the key.
    pub prefix: String,
    pub scopes: Vec<Scope>,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub created_at: Micros,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub expires_at: Option<Micros>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub revoked_at: Option<Micros>,
    /// When it was last used, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub last_used_at: Option<Micros>,
    /// Until when the secret before the last rotation works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub previous_secret_until: Option<Micros>,
    /// Plugins whose batches it may announce; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<String>>,
    /// The whole key; shown once, when it is made or rotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyList {
    pub items: Vec<Key>,
}

/// RFC 9457 problem, `application/problem+json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// Stable; branch on this.
    pub code: String,
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
