//! What the dashboard reads of runs, batches, requests and plugins: the JSON shapes, shared by the
//! server and its clients.
//!
//! What is drawn with many points comes as columns: lists of one length, an element a point.
//! Whatever is summed up over requests comes from roll-ups, which a batch leaves with its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::batch::{Batch, BatchState};
use crate::history::ProfileStage;
use crate::result::Counts;
use assay_core::id::{BatchId, Digest, RequestId};
use assay_core::time::Micros;

/// Totals and histograms of a batch that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Rollup {
    /// Statistics of the rewards; absent when no request has a reward.
    pub rewards: Option<Rewards>,
    /// Number of requests by verdict: the most frequent verdicts, and all others under `other`.
    pub verdicts: BTreeMap<String, u32>,
    /// Number of requests without a reward, by error code.
    pub errors: BTreeMap<String, u32>,
    pub groups: u32,
    /// Number of groups of at least two requests, all with a reward.
    pub complete_groups: u32,
    /// Number of complete groups whose rewards are all equal, from which a trainer learns nothing.
    pub zero_variance_groups: u32,
    /// Seconds for which workers were busy with the batch, by pool.
    pub worker_seconds: BTreeMap<String, f64>,
    /// Cost of these seconds, by pool.
    pub cost: BTreeMap<String, f64>,
    /// Position of the request that determines T: without any waiting it would have ended last.
    pub critical_seq: Option<u32>,
    /// Position of the request that ended last.
    pub last_seq: Option<u32>,
    pub stages: Vec<StageStats>,
}

/// Statistics of the rewards of a batch, including those of timeouts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Rewards {
    pub count: u32,
    pub mean: f64,
    /// Standard deviation of the rewards.
    pub std: f64,
    pub min: f64,
    pub max: f64,
    pub histogram: Histogram,
}

/// Bins of equal width between two bounds; both bounds are inclusive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Histogram {
    pub from: f64,
    pub to: f64,
    pub counts: Vec<u32>,
}

/// Times of one stage of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StageStats {
    pub stage: String,
    pub pool: String,
    pub timeout_ms: u32,
    /// Number of requests that reached the stage.
    pub requests: u32,
    /// Number of attempts after the first one of each request.
    pub retries: u32,
    pub queued: Quantiles,
    pub ran: Quantiles,
    /// Requests by how long it ran; [`stage_edge_ms`] says where each bin ends.
    pub ran_counts: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
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

/// `GET /v1/runs`: the run that was active last comes first.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunList {
    pub items: Vec<RunSummary>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunSummary {
    pub name: String,
    /// `name@version` of the run's first batch, which all later ones use.
    pub plugin: String,
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    #[schema(value_type = String)]
    pub created_at: Micros,
    /// Number of batches that have ended.
    pub batches: u32,
    pub live_batches: u32,
    /// Time at which its last batch ended.
    #[schema(value_type = Option<String>)]
    pub last_batch_at: Option<Micros>,
    pub last_iteration: Option<u64>,
    pub last_mean_reward: Option<f64>,
}

/// `GET /v1/runs/{run}`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunView {
    pub run: RunSummary,
    #[schema(value_type = Object)]
    pub settings: Box<RawValue>,
    pub iterations: Iterations,
    /// Whether the run has earlier batches than those shown.
    pub earlier: bool,
    pub curves: Vec<ArrivalCurve>,
}

/// The last batches of a run as columns, the newest last. Values of the batch summary are null for
/// live batches and for those that ended before summaries were kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Iterations {
    #[schema(value_type = Vec<String>)]
    pub batch: Vec<BatchId>,
    pub iteration: Vec<u64>,
    pub state: Vec<BatchState>,
    #[schema(value_type = Vec<String>)]
    pub announced_at: Vec<Micros>,
    #[schema(value_type = Vec<Option<String>>)]
    pub ended_at: Vec<Option<Micros>>,
    /// Time from the first request to the end of the batch, in milliseconds.
    pub duration_ms: Vec<Option<f64>>,
    pub counts: Vec<Counts>,
    pub mean: Vec<Option<f64>>,
    pub std: Vec<Option<f64>>,
    pub min: Vec<Option<f64>>,
    pub max: Vec<Option<f64>>,
    pub histogram: Vec<Option<Histogram>>,
    /// Part of the complete groups whose rewards are all equal.
    pub zero_variance_share: Vec<Option<f64>>,
    /// Number of requests by verdict; empty without a batch summary.
    pub verdicts: Vec<BTreeMap<String, u32>>,
    pub extra_delay_ms: Vec<Option<f64>>,
    pub max_extra_delay_ms: Vec<Option<u32>>,
    pub worker_seconds: Vec<BTreeMap<String, f64>>,
    pub cost: Vec<BTreeMap<String, f64>>,
}

/// Arrivals of the requests of a batch over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ArrivalCurve {
    #[schema(value_type = String)]
    pub batch: BatchId,
    pub iteration: u64,
    /// Times since the first request in milliseconds, evenly spaced up to the last arrival.
    pub at_ms: Vec<f64>,
    /// Part of the requests that had arrived by each of these times.
    pub share: Vec<f64>,
}

/// `GET /v1/batches`: the newest first.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchList {
    pub items: Vec<BatchSummary>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Filter for a list of batches: `live`, `ended`, or one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
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

#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchSummary {
    pub batch: Batch,
    /// Whether its extra delay is above the tolerance of its run.
    pub late: bool,
    /// Summary without the times of its stages; absent while the batch is live, and for batches
    /// that ended before summaries were kept.
    pub rollup: Option<Rollup>,
}

/// `GET /v1/batches/{id}/timeline`. Times are milliseconds from the batch's first request.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Timeline {
    pub batch: Batch,
    /// Number of requests that were acknowledged.
    pub total: u32,
    /// Whether only some of the requests are shown, evenly chosen by position.
    pub thinned: bool,
    /// Absent before the first request.
    #[schema(value_type = Option<String>)]
    pub first_arrival_at: Option<Micros>,
    /// Time of this state in milliseconds: now, or the end of the batch.
    pub as_of_ms: f64,
    pub stages: Vec<ProfileStage>,
    /// Time at which the last request could have ended without any waiting (the paper's T), in
    /// milliseconds; for a live batch, estimated from its finished requests.
    pub earliest_end_ms: Option<f64>,
    /// Tolerated extra delay that the run sets, in milliseconds (the paper's D).
    pub max_extra_delay_ms: Option<u32>,
    /// Tolerated extra delay in force, in milliseconds: the run's, or else the platform's.
    pub tolerance_ms: f64,
    /// T + D, with the tolerance in force.
    pub tolerated_end_ms: Option<f64>,
    /// Expected end of the batch, in milliseconds.
    pub estimated_end_ms: Option<f64>,
    pub ended_ms: Option<f64>,
    /// Position of the request that determines T.
    pub critical_seq: Option<u32>,
    /// Position of the request that ended last.
    pub last_seq: Option<u32>,
    pub requests: RequestColumns,
    pub groups: GroupColumns,
    /// Reasons for the batch's end time; absent while the batch is live.
    pub lateness: Option<Lateness>,
    pub rollup: Option<Rollup>,
}

/// The requests of a timeline, in the order of admission.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestColumns {
    pub seq: Vec<u32>,
    pub key: Vec<String>,
    /// Index into the list of groups.
    pub group: Vec<Option<u32>>,
    /// `scored`, `timed_out` or `error`; null while it waits or runs.
    pub kind: Vec<Option<String>>,
    pub verdict: Vec<Option<String>>,
    pub reward: Vec<Option<f64>>,
    pub arrived_ms: Vec<f64>,
    pub finished_ms: Vec<Option<f64>>,
    /// One element for each stage.
    pub stages: Vec<StageColumns>,
}

/// One stage of each request of a timeline; null where it has not ended or was not reached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StageColumns {
    /// Time at which the request was ready for the stage; also given for the current stage of an
    /// unfinished request.
    pub queued_ms: Vec<Option<f64>>,
    pub started_ms: Vec<Option<f64>>,
    pub ended_ms: Vec<Option<f64>>,
    pub attempts: Vec<Option<u32>>,
}

/// The groups of the shown requests, in the order of arrival.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GroupColumns {
    pub name: Vec<String>,
    pub requests: Vec<u32>,
    pub finished: Vec<u32>,
    /// Time at which the last request of the group ended; null before that.
    pub completed_ms: Vec<Option<f64>>,
}

/// The reasons for the time at which a batch ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Lateness {
    /// Whether the extra delay is above the tolerance D.
    pub late: bool,
    /// Time from T to the end of the batch, in milliseconds (the paper's d).
    pub extra_delay_ms: f64,
    /// The reason as a sentence with numbers.
    pub reason: String,
    /// Delays of the request that ended last; d is the sum of its waits and the rest, less its
    /// slack.
    pub last: RequestDelay,
    /// Delays of the critical request.
    pub critical: RequestDelay,
}

/// The delays of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestDelay {
    pub seq: u32,
    /// Time from its earliest possible end to T, in milliseconds.
    pub slack_ms: f64,
    pub waits: Vec<StageWait>,
    /// Time from the end of its last stage to its own end, in milliseconds.
    pub rest_ms: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StageWait {
    pub stage: String,
    pub pool: String,
    /// Time for which it waited for a worker, including earlier attempts, in milliseconds.
    pub queued_ms: f64,
    pub retries: u32,
}

/// Filter for the requests of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestKindFilter {
    Scored,
    TimedOut,
    Error,
    /// Requests that have not ended.
    Waiting,
}

/// `GET /v1/batches/{id}/requests`: in the order of admission.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestList {
    pub items: Vec<RequestSummary>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestSummary {
    #[schema(value_type = String)]
    pub id: RequestId,
    pub seq: u32,
    pub key: String,
    pub group: Option<String>,
    #[schema(value_type = String)]
    pub arrived_at: Micros,
    /// `scored`, `timed_out` or `error`; null while it waits or runs.
    pub kind: Option<String>,
    pub verdict: Option<String>,
    pub reward: Option<f64>,
    /// Time from its arrival to its end, in milliseconds.
    pub took_ms: Option<f64>,
    /// First characters of the error's message or of the plugin's explanation.
    pub message: Option<String>,
}

/// The run and batch of a request, and its stages in time.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestContext {
    pub run: String,
    pub iteration: u64,
    pub batch_state: BatchState,
    /// `name@version`.
    pub plugin: String,
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    /// Settings of the run.
    #[schema(value_type = Object)]
    pub settings: Box<RawValue>,
    /// Arrival of the first request of its batch.
    #[schema(value_type = Option<String>)]
    pub first_request_at: Option<Micros>,
    /// Time at which it could have ended without any waiting.
    #[schema(value_type = Option<String>)]
    pub earliest_end_at: Option<Micros>,
    #[schema(value_type = Option<String>)]
    pub finished_at: Option<Micros>,
    /// The stages that have ended, in order.
    pub spans: Vec<Span>,
    pub artifacts: Vec<ArtifactSummary>,
}

/// One stage of one request, with absolute times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Span {
    pub stage: String,
    pub pool: String,
    pub timeout_ms: u32,
    #[schema(value_type = String)]
    pub queued_at: Micros,
    #[schema(value_type = String)]
    pub started_at: Micros,
    #[schema(value_type = String)]
    pub ended_at: Micros,
    pub attempts: u32,
}

/// An artifact that a stage handed to the next one, without its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ArtifactSummary {
    /// Name of the stage that returned it.
    pub stage: String,
    pub content_type: String,
    pub bytes: u64,
    #[schema(value_type = String)]
    pub created_at: Micros,
}

/// `GET /v1/plugins/{name}/versions/{version}/stats`: totals over the last batches of a version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PluginStats {
    /// `name@version`.
    pub plugin: String,
    /// Number of batches in these totals.
    pub batches: u32,
    /// End of the first of these batches; `to` is the end of the last one.
    #[schema(value_type = Option<String>)]
    pub from: Option<Micros>,
    #[schema(value_type = Option<String>)]
    pub to: Option<Micros>,
    pub counts: Counts,
    pub mean_reward: Option<f64>,
    pub verdicts: BTreeMap<String, u32>,
    pub errors: BTreeMap<String, u32>,
    pub stages: Vec<StageHistogram>,
    /// Names of the runs of these batches.
    pub runs: Vec<RunOnVersion>,
}

/// Run times of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunOnVersion {
    pub run: String,
    pub batches: u32,
    #[schema(value_type = String)]
    pub last_batch_at: Micros,
    pub last_mean_reward: Option<f64>,
}
