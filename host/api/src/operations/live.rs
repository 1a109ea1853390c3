//! The JSON shapes of the live feed.

use serde::{Deserialize, Serialize};

use super::{Incident, LiveBatch, StageQueue};
use crate::batch::BatchState;
use crate::capacity::PoolCapacity;
use crate::result::Counts;
use assay_core::id::BatchId;
use assay_core::time::Micros;

/// The event `snapshot` of `GET /v1/live`: the whole state.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LiveSnapshot {
    /// Time of this state.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Live batches, the most urgent first, at most 200.
    pub batches: Vec<LiveBatch>,
    /// Number of live batches, including those that are not listed.
    pub batches_total: u32,
    /// Waiting and running requests by stage.
    pub queue: Vec<StageQueue>,
    /// Pools; only with the scope `platform:*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<PoolCapacity>>,
}

/// The event `delta` of `GET /v1/live`: the changes, at most four times a second.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LiveDelta {
    /// Time of this state.
    #[schema(value_type = String)]
    pub at: Micros,
    /// New or changed batches; each replaces its earlier version.
    pub batches: Vec<LiveBatch>,
    /// Number of live batches, including those that are not listed.
    pub batches_total: u32,
    /// Batches that have ended since the last event.
    pub ended: Vec<EndedBatch>,
    /// Ids of batches that are still live but no longer among the most urgent.
    #[schema(value_type = Vec<String>)]
    pub left: Vec<BatchId>,
    /// The whole queue, if it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Vec<StageQueue>>,
    /// Changed pools; only with the scope `platform:*`.
    pub pools: Vec<PoolCapacity>,
    /// New incidents, and incidents with a higher count under the same id.
    pub incidents: Vec<Incident>,
}

/// A batch that has just ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EndedBatch {
    /// Id of the batch.
    #[schema(value_type = String)]
    pub id: BatchId,
    /// Name of the tenant.
    pub tenant: String,
    /// Name of the run.
    pub run: String,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// `name@version`.
    pub plugin: String,
    /// State.
    pub state: BatchState,
    /// Numbers of ended requests by ending.
    pub counts: Counts,
    /// Mean over all requests with a reward; absent if there is none.
    pub mean_reward: Option<f64>,
    /// Time at which the last request ended; absent before it.
    #[schema(value_type = Option<String>)]
    pub done_at: Option<Micros>,
    /// Extra delay, in milliseconds (the paper's d); absent if unknown.
    pub extra_delay_ms: Option<f64>,
}
