//! The JSON shapes of the timeline of a batch, and of the reasons for its end time.

use serde::{Deserialize, Serialize};

use super::Rollup;
use crate::batch::Batch;
use crate::history::ProfileStage;
use assay_core::time::Micros;

/// `GET /v1/batches/{id}/timeline`. Times are milliseconds from the batch's first request.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Timeline {
    /// The batch.
    pub batch: Batch,
    /// Number of requests that were acknowledged.
    pub total: u32,
    /// Whether only some of the requests are shown, evenly chosen by position.
    pub thinned: bool,
    /// Time of the first request; absent before it.
    #[schema(value_type = Option<String>)]
    pub first_arrival_at: Option<Micros>,
    /// Time of this state in milliseconds: now, or the end of the batch.
    pub as_of_ms: f64,
    /// The stages of the plugin, in order.
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
    /// Time at which the batch ended, in milliseconds; absent while it is live.
    pub ended_ms: Option<f64>,
    /// Position of the request that determines T.
    pub critical_seq: Option<u32>,
    /// Position of the request that ended last.
    pub last_seq: Option<u32>,
    /// The requests as columns.
    pub requests: RequestColumns,
    /// The groups as columns.
    pub groups: GroupColumns,
    /// Reasons for the batch's end time; absent while the batch is live.
    pub lateness: Option<Lateness>,
    /// Sums over the requests; absent while the batch is live.
    pub rollup: Option<Rollup>,
}

/// The requests of a timeline, in the order of admission.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestColumns {
    /// Positions in the batch, from 0.
    pub seq: Vec<u32>,
    /// Keys.
    pub key: Vec<String>,
    /// Index into the list of groups.
    pub group: Vec<Option<u32>>,
    /// `scored`, `timed_out` or `error`; null while it waits or runs.
    pub kind: Vec<Option<String>>,
    /// The plugin's verdict, `timed_out`, or the error's code; null while it waits or runs.
    pub verdict: Vec<Option<String>>,
    /// Rewards; null without one.
    pub reward: Vec<Option<f64>>,
    /// Times of arrival, in milliseconds.
    pub arrived_ms: Vec<f64>,
    /// Times of the ends, in milliseconds; null while it waits or runs.
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
    /// Time at which the stage started, in milliseconds.
    pub started_ms: Vec<Option<f64>>,
    /// Time at which the stage ended, in milliseconds.
    pub ended_ms: Vec<Option<f64>>,
    /// Number of attempts.
    pub attempts: Vec<Option<u32>>,
}

/// The groups of the shown requests, in the order of arrival.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GroupColumns {
    /// Names of the groups.
    pub name: Vec<String>,
    /// Numbers of requests.
    pub requests: Vec<u32>,
    /// Numbers of requests that have ended.
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
    /// Position of the request in its batch, from 0.
    pub seq: u32,
    /// Time from its earliest possible end to T, in milliseconds.
    pub slack_ms: f64,
    /// The waits at the stages, in order.
    pub waits: Vec<StageWait>,
    /// Time from the end of its last stage to its own end, in milliseconds.
    pub rest_ms: f64,
}

/// The wait of a request at a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StageWait {
    /// Name of the stage.
    pub stage: String,
    /// Name of the pool.
    pub pool: String,
    /// Time for which it waited for a worker, including earlier attempts, in milliseconds.
    pub queued_ms: f64,
    /// Number of attempts after the first one.
    pub retries: u32,
}
