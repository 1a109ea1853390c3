//! The JSON shapes of `/v1/batches`.

use crate::result::{Counts, ResultItem};
use assay_core::id::{BatchId, Digest};
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// `POST /v1/batches`: a rollout has started and a batch of requests will come.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnounceBatch {
    /// `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone.
    pub plugin: String,
    /// Name of the training run, which keeps the plugin version and the settings of its first
    /// batch.
    pub run: String,
    /// Number of the iteration in its run.
    #[serde(default)]
    pub iteration: u64,
    /// Number of requests after which the batch is complete without a seal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_size: Option<u32>,
    /// Number of samples of each prompt; a group is complete with this many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_size: Option<u32>,
    /// Extra delay that the run tolerates, in milliseconds (the paper's D).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_extra_delay_ms: Option<u32>,
    /// The unit for which the trainer waits; `batch` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumes: Option<Consumes>,
    /// Whether equal requests to a deterministic plugin share one computation; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_equal: Option<bool>,
    /// The plugin's settings for this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub settings: Option<Box<RawValue>>,
    /// For trainers of several processes: they all announce the batch, and get the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinBatch>,
}

/// The unit for which a trainer waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Consumes {
    /// The whole batch: requests may wait as long as the batch does not end later.
    #[default]
    Batch,
    /// Each group, as a trainer does that streams mini-batches: workers are planned so that groups hardly
    /// wait, and the group with the fewest requests left is served first.
    Groups,
}

/// How the processes of a trainer share a batch. The server seals it, after a time without calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinBatch {
    /// The requests that share a batch.
    pub by: JoinBy,
    /// Time after which the batch is sealed when all of its requests have ended and no more come,
    /// in milliseconds.
    pub idle_ms: u32,
}

/// Which announcements get the same batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JoinBy {
    /// All of a run. The server counts the iterations.
    Run,
    /// All of an iteration of a run. A later iteration ends it: it is sealed as soon as all of its
    /// requests have ended.
    Iteration,
}

/// Life of a batch: `announced -> open -> sealed -> done | cancelled | expired`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchState {
    /// No request has come yet.
    Announced,
    /// Requests come.
    Open,
    /// All requests have come.
    Sealed,
    /// All requests have ended.
    Done,
    /// The batch was cancelled.
    Cancelled,
    /// The batch ended because its time was over.
    Expired,
}

impl BatchState {
    /// The name of the state in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Open => "open",
            Self::Sealed => "sealed",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// Whether the batch has ended.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Expired)
    }
}

/// A batch.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Batch {
    /// Id of the batch.
    #[schema(value_type = String)]
    pub id: BatchId,
    /// State.
    pub state: BatchState,
    /// `name@version`.
    pub plugin: String,
    /// SHA-256 of the plugin's component.
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    /// Name of the run.
    pub run: String,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// Expected number of requests; absent if the trainer gave none.
    pub expected_size: Option<u32>,
    /// Expected number of requests in a group; absent if the trainer gave none.
    pub group_size: Option<u32>,
    /// Extra delay that the run tolerates, in milliseconds (the paper's D); absent if it sets none.
    pub max_extra_delay_ms: Option<u32>,
    /// The unit for which the trainer waits.
    #[serde(default)]
    pub consumes: Consumes,
    /// Number of requests that are still to come, by what the trainer last said of its rollouts; absent if it said
    /// nothing since the server's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// Numbers of ended requests by ending.
    pub counts: Counts,
    /// Mean over all requests with a reward; absent while there is none.
    pub mean_reward: Option<f64>,
    /// Time of the announcement.
    #[schema(value_type = String)]
    pub announced_at: Micros,
    /// Time of the first request; absent before it.
    #[schema(value_type = Option<String>)]
    pub first_request_at: Option<Micros>,
    /// Time at which the batch was sealed; absent before it.
    #[schema(value_type = Option<String>)]
    pub sealed_at: Option<Micros>,
    /// Time at which the last request ended; absent before it.
    #[schema(value_type = Option<String>)]
    pub done_at: Option<Micros>,
    /// Time at which the last request is expected to end.
    #[schema(value_type = Option<String>)]
    pub estimated_done_at: Option<Micros>,
    /// Time from the earliest possible end of the batch to its end, in milliseconds (the paper's
    /// d).
    pub extra_delay_ms: Option<f64>,
    /// Time at which its requests and results were deleted; its totals are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub expired_at: Option<Micros>,
}

/// `POST /v1/batches/{id}/seal`: no more requests will come.
#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SealBatch {
    /// Expected number of requests; the seal is refused if the batch has another number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_count: Option<u32>,
}

/// `PATCH /v1/batches/{id}`: what the trainer knows now. Absent fields stay as they are.
#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateBatch {
    /// Number of rollouts that still run, each of which will send a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
}

/// A page of results.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ResultsPage {
    /// The results of this page.
    pub items: Vec<ResultItem>,
    /// Cursor of the next page, to be sent as `after`.
    pub next: u32,
    /// Whether this is the last page.
    pub done: bool,
}

/// One server-sent event, by its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StreamEvent {
    /// Name of the event.
    pub event: String,
    /// Id of the event; a reconnecting client sends it as `Last-Event-ID` and gets the events after
    /// it.
    pub id: Option<String>,
    /// Data of the event, as JSON text.
    pub data: String,
}
