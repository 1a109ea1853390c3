//! The JSON shapes of runs, batches, requests and plugins that the dashboard shows, shared by the
//! server and its clients.
//!
//! Curves with many points are columns: lists of one length, with an element for each point.
//! Sums over requests are read from batch summaries, which are written when a batch ends.

mod plugins;
mod timeline;

pub use plugins::{PluginStats, RunOnVersion, StageHistogram};
pub use timeline::{
    GroupColumns, Lateness, RequestColumns, RequestDelay, StageColumns, StageWait, Timeline,
};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::batch::{Batch, BatchState};
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
    /// Number of groups.
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
    /// Times of the stages, in order.
    pub stages: Vec<StageStats>,
    /// The ends that were expected of the batch half-way between its first request and its end, to be compared with
    /// what came; absent for the first batches of a run, of which nothing can be expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedEnds>,
}

/// The ends that the planner expected of a live batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExpectedEnds {
    /// Time at which the last request could end without any waiting (the paper's T), with those still to come.
    #[schema(value_type = String)]
    pub earliest_end_at: Micros,
    /// Time at which the last request ends, with its waits for workers.
    #[schema(value_type = String)]
    pub done_at: Micros,
}

/// Statistics of the rewards of a batch, including those of timeouts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Rewards {
    /// Number of rewards.
    pub count: u32,
    /// Mean of the rewards.
    pub mean: f64,
    /// Standard deviation of the rewards.
    pub std: f64,
    /// Smallest reward.
    pub min: f64,
    /// Largest reward.
    pub max: f64,
    /// Histogram of the rewards.
    pub histogram: Histogram,
}

/// Bins of equal width between two bounds; both bounds are inclusive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Histogram {
    /// Start of the first bin.
    pub from: f64,
    /// End of the last bin.
    pub to: f64,
    /// Number of values in each bin; all bins have the same width.
    pub counts: Vec<u32>,
}

/// Times of one stage of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StageStats {
    /// Name of the stage.
    pub stage: String,
    /// Name of the pool.
    pub pool: String,
    /// Timeout of the stage, in milliseconds.
    pub timeout_ms: u32,
    /// Number of requests that reached the stage.
    pub requests: u32,
    /// Number of attempts after the first one of each request.
    pub retries: u32,
    /// Times for which requests waited for a worker.
    pub queued: Quantiles,
    /// Run times.
    pub ran: Quantiles,
    /// Number of requests by run time; the bins end at `StageHistogram.edges_ms`.
    pub ran_counts: Vec<u32>,
}

/// Quantiles of times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Quantiles {
    /// Median, in milliseconds.
    pub median_ms: f64,
    /// 95th percentile, in milliseconds.
    pub p95_ms: f64,
    /// Maximum, in milliseconds.
    pub max_ms: f64,
}

/// The number of bins of a stage's times: the first ends at 0.1 ms, each further one at the square root of two
/// times the end of the one before, and the last holds all longer times.
pub const STAGE_BINS: usize = 52;

/// The end of bin `at` (from 0) of a stage's times, in milliseconds.
#[must_use]
pub fn stage_edge_ms(at: usize) -> f64 {
    0.1 * 2f64.powf(at as f64 / 2.0)
}

/// `GET /v1/runs`: the run that was active last comes first.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunList {
    /// The runs of this page.
    pub items: Vec<RunSummary>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunSummary {
    /// Name of the run.
    pub name: String,
    /// `name@version` of the run's first batch, which all later ones use.
    pub plugin: String,
    /// SHA-256 of the plugin's component.
    #[schema(value_type = String)]
    pub plugin_digest: Digest,
    /// Time at which the run began.
    #[schema(value_type = String)]
    pub created_at: Micros,
    /// Number of batches that have ended.
    pub batches: u32,
    /// Number of live batches.
    pub live_batches: u32,
    /// Time at which its last batch ended.
    #[schema(value_type = Option<String>)]
    pub last_batch_at: Option<Micros>,
    /// Number of the last iteration; absent if there is none.
    pub last_iteration: Option<u64>,
    /// Mean reward of the last batch with rewards; absent if there is none.
    pub last_mean_reward: Option<f64>,
}

/// `GET /v1/runs/{run}`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunView {
    /// The run.
    pub run: RunSummary,
    /// Settings of the run.
    #[schema(value_type = Object)]
    pub settings: Box<RawValue>,
    /// The last batches as columns.
    pub iterations: Iterations,
    /// Whether the run has earlier batches than those shown.
    pub earlier: bool,
    /// Arrivals of the requests of the last batches.
    pub curves: Vec<ArrivalCurve>,
    /// Promotions and rollbacks of the run's plugin since the announcement of the first of these batches, the
    /// oldest first, the last 100. The run itself keeps its version.
    pub promotions: Vec<Promotion>,
}

/// A change of the version that a channel of a plugin points to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Promotion {
    /// Time of the change.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Name of the channel.
    pub channel: String,
    /// Version that it points to since then.
    pub version: String,
    /// Version that it pointed to before; absent for a new channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether it was a rollback.
    pub rollback: bool,
}

/// The last batches of a run as columns, the newest last. Values of the batch summary are null for
/// live batches and for those that ended before summaries were kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Iterations {
    /// Ids of the batches.
    #[schema(value_type = Vec<String>)]
    pub batch: Vec<BatchId>,
    /// Numbers of the iterations.
    pub iteration: Vec<u64>,
    /// States.
    pub state: Vec<BatchState>,
    /// Times of the announcements.
    #[schema(value_type = Vec<String>)]
    pub announced_at: Vec<Micros>,
    /// Times at which the batches ended; null for live ones.
    #[schema(value_type = Vec<Option<String>>)]
    pub ended_at: Vec<Option<Micros>>,
    /// Time from the first request to the end of the batch, in milliseconds.
    pub duration_ms: Vec<Option<f64>>,
    /// Numbers of ended requests by ending.
    pub counts: Vec<Counts>,
    /// Mean reward.
    pub mean: Vec<Option<f64>>,
    /// Standard deviation of the rewards.
    pub std: Vec<Option<f64>>,
    /// Smallest reward.
    pub min: Vec<Option<f64>>,
    /// Largest reward.
    pub max: Vec<Option<f64>>,
    /// Histogram of the rewards.
    pub histogram: Vec<Option<Histogram>>,
    /// Part of the complete groups whose rewards are all equal.
    pub zero_variance_share: Vec<Option<f64>>,
    /// Part of the complete groups whose rewards are all equal and above zero; null until the samples of the
    /// batch are prepared.
    pub all_right_share: Vec<Option<f64>>,
    /// pass@k by k, for powers of two: the chance that at least one of k samples of a prompt passes, by the unbiased
    /// estimator 1 - C(n-c, k) / C(n, k) for c of n samples that passed, as a mean over the groups with at least k
    /// rewards. A sample passes with a reward of at least 1. Empty without groups, and until the samples of the
    /// batch are prepared.
    pub pass_at: Vec<BTreeMap<String, f64>>,
    /// Number of groups by solve rate, the part of their samples that passed; null where `pass_at` is empty.
    pub solve_rates: Vec<Option<Histogram>>,
    /// Means of the components of rewards, by name, of the first 32; empty until the samples of the batch are
    /// prepared.
    pub components: Vec<BTreeMap<String, f64>>,
    /// Number of requests by verdict; empty without a batch summary.
    pub verdicts: Vec<BTreeMap<String, u32>>,
    /// Extra delay, in milliseconds (the paper's d).
    pub extra_delay_ms: Vec<Option<f64>>,
    /// Extra delay that the run tolerates, in milliseconds; null if it sets none.
    pub max_extra_delay_ms: Vec<Option<u32>>,
    /// Seconds for which workers were busy, by pool.
    pub worker_seconds: Vec<BTreeMap<String, f64>>,
    /// Cost of these seconds, by pool.
    pub cost: Vec<BTreeMap<String, f64>>,
}

/// Arrivals of the requests of a batch over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ArrivalCurve {
    /// Id of the batch.
    #[schema(value_type = String)]
    pub batch: BatchId,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// Times since the first request in milliseconds, evenly spaced up to the last arrival.
    pub at_ms: Vec<f64>,
    /// Part of the requests that had arrived by each of these times.
    pub share: Vec<f64>,
}

/// `GET /v1/batches`: the newest first.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchList {
    /// The batches of this page.
    pub items: Vec<BatchSummary>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Filter for a list of batches: `live`, `ended`, or one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchStateFilter {
    /// Batches that have not ended.
    Live,
    /// Batches that have ended.
    Ended,
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

/// A batch with its summary.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchSummary {
    /// The batch.
    pub batch: Batch,
    /// Whether its extra delay is above the tolerance of its run.
    pub late: bool,
    /// Summary without the times of its stages; absent while the batch is live, and for batches
    /// that ended before summaries were kept.
    pub rollup: Option<Rollup>,
}

/// Filter for the requests of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestKindFilter {
    /// With a reward.
    Scored,
    /// Timed out.
    TimedOut,
    /// Ended as an error.
    Error,
    /// Requests that have not ended.
    Waiting,
}

/// `GET /v1/batches/{id}/requests`: in the order of admission.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestList {
    /// The requests of this page.
    pub items: Vec<RequestSummary>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// A request in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestSummary {
    /// Id of the request.
    #[schema(value_type = String)]
    pub id: RequestId,
    /// Position of the request in its batch, from 0.
    pub seq: u32,
    /// Key of the request, which is unique in its batch.
    pub key: String,
    /// Name of the group; absent without one.
    pub group: Option<String>,
    /// Time of the arrival.
    #[schema(value_type = String)]
    pub arrived_at: Micros,
    /// `scored`, `timed_out` or `error`; null while it waits or runs.
    pub kind: Option<String>,
    /// The plugin's verdict, `timed_out`, or the error's code; absent while the request waits or runs.
    pub verdict: Option<String>,
    /// The reward; absent without one.
    pub reward: Option<f64>,
    /// Time from its arrival to its end, in milliseconds.
    pub took_ms: Option<f64>,
    /// First characters of the error's message or of the plugin's explanation.
    pub message: Option<String>,
}

/// The run and batch of a request, and its stages in time.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestContext {
    /// Name of the run.
    pub run: String,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// State of the batch.
    pub batch_state: BatchState,
    /// `name@version`.
    pub plugin: String,
    /// SHA-256 of the plugin's component.
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
    /// Time of the end; absent while it waits or runs.
    #[schema(value_type = Option<String>)]
    pub finished_at: Option<Micros>,
    /// The stages that have ended, in order.
    pub spans: Vec<Span>,
    /// Artifacts that its stages returned.
    pub artifacts: Vec<ArtifactSummary>,
}

/// One stage of one request, with absolute times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Span {
    /// Name of the stage.
    pub stage: String,
    /// Name of the pool.
    pub pool: String,
    /// Timeout of the stage, in milliseconds.
    pub timeout_ms: u32,
    /// Time at which the request was ready for the stage.
    #[schema(value_type = String)]
    pub queued_at: Micros,
    /// Time at which the stage started.
    #[schema(value_type = String)]
    pub started_at: Micros,
    /// Time at which the stage ended.
    #[schema(value_type = String)]
    pub ended_at: Micros,
    /// Number of attempts of the stage.
    pub attempts: u32,
}

/// An artifact that a stage handed to the next one, without its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ArtifactSummary {
    /// Name of the stage that returned it.
    pub stage: String,
    /// Content type of the artifact.
    pub content_type: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Time at which the artifact was stored.
    #[schema(value_type = String)]
    pub created_at: Micros,
}
