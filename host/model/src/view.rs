//! What the dashboard reads of runs, batches, requests and plugins: the JSON shapes, shared by the
//! server and its clients.
//!
//! What is drawn with many points comes as columns: lists of one length, an element a point.
//! Whatever is summed up over requests comes from roll-ups, which a batch leaves with its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::api::{Batch, BatchState, Counts};
use crate::history::ProfileStage;
use crate::id::{BatchId, Digest, RequestId};
use crate::time::Micros;

/// What a batch left with its end, in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rollup {
    /// Absent when no request has a reward.
    pub rewards: Option<Rewards>,
    /// Requests by the word for what happened: the most frequent ones, the rest under `other`.
    pub verdicts: BTreeMap<String, u32>,
    /// Requests without a reward by the error's code.
    pub errors: BTreeMap<String, u32>,
    pub groups: u32,
    /// Groups of two or more all of whose requests have a reward.
    pub complete_groups: u32,
    /// Complete groups whose rewards are all the same: there is nothing to learn from them.
    pub zero_variance_groups: u32,
    /// For how long workers of each pool were busy with it.
    pub worker_seconds: BTreeMap<String, f64>,
    /// The same times what a second costs.
    pub cost: BTreeMap<String, f64>,
    /// The request that determines T: even without ever waiting none could have ended later.
    pub critical_seq: Option<u32>,
    /// The request that ended last.
    pub last_seq: Option<u32>,
    pub stages: Vec<StageStats>,
}

/// Rewards of a batch, timeouts included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rewards {
    pub count: u32,
    pub mean: f64,
    /// The standard deviation over all of them.
    pub std: f64,
    pub min: f64,
    pub max: f64,
    pub histogram: Histogram,
}

/// Bins of equal width between two bounds, which belong to the first and the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Histogram {
    pub from: f64,
    pub to: f64,
    pub counts: Vec<u32>,
}

/// How long one stage of a batch took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageStats {
    pub stage: String,
    pub pool: String,
    pub timeout_ms: u32,
    /// That reached it.
    pub requests: u32,
    /// Attempts beyond each request's first.
    pub retries: u32,
    pub queued: Quantiles,
    pub ran: Quantiles,
    /// Requests by how long it ran; [`stage_edge_ms`] says where each bin ends.
    pub ran_counts: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quantiles {
    pub median_ms: f64,
    pub p95_ms: f64,
    pub max_ms: f64,
}

/// Bins of a stage's times: each ends a factor of the square root of two behind the one before, from
/// 0.1 ms on; the last holds all that is longer.
pub const STAGE_BINS: usize = 52;

/// Where bin `at` (from 0) of a stage's times ends.
#[must_use]
pub fn stage_edge_ms(at: usize) -> f64 {
    0.1 * 2f64.powf(at as f64 / 2.0)
}

/// `GET /v1/runs`: what was active last comes first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunList {
    pub items: Vec<RunSummary>,
    /// Give it as `after` for the next page; absent when this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunSummary {
    pub name: String,
    /// `name@version`, pinned by its first batch.
    pub plugin: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub plugin_digest: Digest,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub created_at: Micros,
    /// Batches that have ended.
    pub batches: u32,
    pub live_batches: u32,
    /// When its last batch ended.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub last_batch_at: Option<Micros>,
    pub last_iteration: Option<u64>,
    pub last_mean_reward: Option<f64>,
}

/// `GET /v1/runs/{run}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunView {
    pub run: RunSummary,
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub settings: Box<RawValue>,
    pub iterations: Iterations,
    /// Whether earlier batches than those shown exist.
    pub earlier: bool,
    pub curves: Vec<ArrivalCurve>,
}

/// The last batches of a run as columns, the newest last. What only a roll-up knows is null for
/// batches that have none: live ones, and those that ended before there were any.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Iterations {
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub batch: Vec<BatchId>,
    pub iteration: Vec<u64>,
    pub state: Vec<BatchState>,
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub announced_at: Vec<Micros>,
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<String>>))]
    pub ended_at: Vec<Option<Micros>>,
    /// From the first request to the end.
    pub duration_ms: Vec<Option<f64>>,
    pub counts: Vec<Counts>,
    pub mean: Vec<Option<f64>>,
    pub std: Vec<Option<f64>>,
    pub min: Vec<Option<f64>>,
    pub max: Vec<Option<f64>>,
    pub histogram: Vec<Option<Histogram>>,
    /// Of the complete groups.
    pub zero_variance_share: Vec<Option<f64>>,
    /// As in a roll-up; empty without one.
    pub verdicts: Vec<BTreeMap<String, u32>>,
    pub extra_delay_ms: Vec<Option<f64>>,
    pub max_extra_delay_ms: Vec<Option<u32>>,
    pub worker_seconds: Vec<BTreeMap<String, f64>>,
    pub cost: Vec<BTreeMap<String, f64>>,
}

/// When the requests of a batch came, from its first one on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ArrivalCurve {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub batch: BatchId,
    pub iteration: u64,
    /// Points of time, evenly spread up to the last arrival.
    pub at_ms: Vec<f64>,
    /// The share of the requests that had come by then.
    pub share: Vec<f64>,
}

/// `GET /v1/batches`: the newest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchList {
    pub items: Vec<BatchSummary>,
    /// Give it as `after` for the next page; absent when this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Which batches of a list are asked for: `live`, `ended`, or those in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BatchStateFilter {
    Live,
    Ended,
    Announced,
    Open,
    Sealed,
    Done,
    Cancelled,
    Expired,
}

impl BatchStateFilter {
    /// The one state that is asked for.
    #[must_use]
    pub const fn state(self) -> Option<BatchState> {
        match self {
            Self::Live | Self::Ended => None,
            Self::Announced => Some(BatchState::Announced),
            Self::Open => Some(BatchState::Open),
            Self::Sealed => Some(BatchState::Sealed),
            Self::Done => Some(BatchState::Done),
            Self::Cancelled => Some(BatchState::Cancelled),
            Self::Expired => Some(BatchState::Expired),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchSummary {
    pub batch: Batch,
    /// Its extra delay is above what its run tolerates.
    pub late: bool,
    /// Without the times of its stages. Absent while it lives, and for what ended before there were
    /// roll-ups.
    pub rollup: Option<Rollup>,
}

/// `GET /v1/batches/{id}/timeline`. Times are milliseconds from the batch's first request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Timeline {
    pub batch: Batch,
    /// Requests that were acknowledged.
    pub total: u32,
    /// Whether only some of them are shown, evenly chosen by their place.
    pub thinned: bool,
    /// Absent before the first request.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub first_arrival_at: Option<Micros>,
    /// Up to when this is known: now, or the batch's end.
    pub as_of_ms: f64,
    pub stages: Vec<ProfileStage>,
    /// The paper's T: when the last request could have ended, had none ever waited. Of a live batch,
    /// as far as its finished requests tell.
    pub earliest_end_ms: Option<f64>,
    /// The run's D.
    pub max_extra_delay_ms: Option<u32>,
    /// T + D.
    pub tolerated_end_ms: Option<f64>,
    /// When it was or is expected to end.
    pub estimated_end_ms: Option<f64>,
    pub ended_ms: Option<f64>,
    /// The request that determines T.
    pub critical_seq: Option<u32>,
    /// The request that ended last.
    pub last_seq: Option<u32>,
    pub requests: RequestColumns,
    pub groups: GroupColumns,
    /// Absent while the batch lives.
    pub lateness: Option<Lateness>,
    pub rollup: Option<Rollup>,
}

/// The requests of a timeline, in the order of admission.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestColumns {
    pub seq: Vec<u32>,
    pub key: Vec<String>,
    /// Place in the list of groups.
    pub group: Vec<Option<u32>>,
    /// `scored`, `timed_out` or `error`; null while it waits or runs.
    pub kind: Vec<Option<String>>,
    pub verdict: Vec<Option<String>>,
    pub reward: Vec<Option<f64>>,
    pub arrived_ms: Vec<f64>,
    pub finished_ms: Vec<Option<f64>>,
    /// An element a stage.
    pub stages: Vec<StageColumns>,
}

/// One stage of each request of a timeline; null where it has not ended or was not reached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageColumns {
    /// Since when it waited; also known of the stage at which an unfinished request is.
    pub queued_ms: Vec<Option<f64>>,
    pub started_ms: Vec<Option<f64>>,
    pub ended_ms: Vec<Option<f64>>,
    pub attempts: Vec<Option<u32>>,
}

/// The groups among the shown requests, in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupColumns {
    pub name: Vec<String>,
    pub requests: Vec<u32>,
    pub finished: Vec<u32>,
    /// When the last of its requests ended; null before.
    pub completed_ms: Vec<Option<f64>>,
}

/// Why a batch ended when it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lateness {
    /// Whether the extra delay is above D.
    pub late: bool,
    /// The paper's d: from T to the end.
    pub extra_delay_ms: f64,
    /// In a sentence, with numbers.
    pub reason: String,
    /// What the request that ended last went through; d is its waits and the rest, less the slack.
    pub last: RequestDelay,
    /// What the critical request went through.
    pub critical: RequestDelay,
}

/// What kept one request from ending when it could have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestDelay {
    pub seq: u32,
    /// How much earlier than T it could have ended.
    pub slack_ms: f64,
    pub waits: Vec<StageWait>,
    /// What lies between its last stage's end and its own, and is no stage's.
    pub rest_ms: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageWait {
    pub stage: String,
    pub pool: String,
    /// For a worker, earlier tries included.
    pub queued_ms: f64,
    pub retries: u32,
}

/// Which requests of a batch are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RequestKindFilter {
    Scored,
    TimedOut,
    Error,
    /// That have not ended.
    Waiting,
}

/// `GET /v1/batches/{id}/requests`: in the order of admission.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestList {
    pub items: Vec<RequestSummary>,
    /// Give it as `after` for the next page; absent when this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestSummary {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: RequestId,
    pub seq: u32,
    pub key: String,
    pub group: Option<String>,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub arrived_at: Micros,
    /// `scored`, `timed_out` or `error`; null while it waits or runs.
    pub kind: Option<String>,
    pub verdict: Option<String>,
    pub reward: Option<f64>,
    /// From its arrival to its end.
    pub took_ms: Option<f64>,
    /// The beginning of what an error says, or of the plugin's explanation.
    pub message: Option<String>,
}

/// Where a request belongs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestContext {
    pub run: String,
    pub iteration: u64,
    pub batch_state: BatchState,
    /// `name@version`.
    pub plugin: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub plugin_digest: Digest,
    /// The run's.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub settings: Box<RawValue>,
    /// When the first request of its batch came.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub first_request_at: Option<Micros>,
    /// When it could have ended without ever waiting.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub earliest_end_at: Option<Micros>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub finished_at: Option<Micros>,
    /// The stages that ended, in order.
    pub spans: Vec<Span>,
    pub artifacts: Vec<ArtifactSummary>,
}

/// One stage of one request, in calendar time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Span {
    pub stage: String,
    pub pool: String,
    pub timeout_ms: u32,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub queued_at: Micros,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub started_at: Micros,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub ended_at: Micros,
    pub attempts: u32,
}

/// What a stage left for the next, without its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ArtifactSummary {
    /// The stage that left it.
    pub stage: String,
    pub content_type: String,
    pub bytes: u64,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub created_at: Micros,
}

/// `GET /v1/plugins/{name}/versions/{version}/stats`: summed up over its last batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginStats {
    /// `name@version`.
    pub plugin: String,
    /// How many batches this is summed up over.
    pub batches: u32,
    /// When the first and the last of them ended.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub from: Option<Micros>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub to: Option<Micros>,
    pub counts: Counts,
    pub mean_reward: Option<f64>,
    pub verdicts: BTreeMap<String, u32>,
    pub errors: BTreeMap<String, u32>,
    pub stages: Vec<StageHistogram>,
    /// The runs of these batches.
    pub runs: Vec<RunOnVersion>,
}

/// How long a stage ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageHistogram {
    pub stage: String,
    pub pool: String,
    pub timeout_ms: u32,
    pub requests: u32,
    pub retries: u32,
    /// Where each bin ends; the first begins at zero, the last holds all that is longer.
    pub edges_ms: Vec<f64>,
    pub counts: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunOnVersion {
    pub run: String,
    pub batches: u32,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub last_batch_at: Micros,
    pub last_mean_reward: Option<f64>,
}
