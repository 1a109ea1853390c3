//! The results of requests, and their numbers by ending.

use serde::{Deserialize, Serialize};

use assay_core::id::RequestId;
use assay_core::outcome::Outcome;

/// One finished request.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ResultItem {
    /// Position in the order of completion, from 1; sent as `after`, it asks for the results after
    /// this one.
    pub cursor: u32,
    /// Id of the request.
    #[schema(value_type = String)]
    pub id: RequestId,
    /// Key of the request, which is unique in its batch.
    pub key: String,
    /// Name of the group; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The outcome.
    #[schema(value_type = crate::schema::OutcomeSchema)]
    pub outcome: Outcome,
    /// The stages that ran, in order; empty if the outcome comes from an equal request.
    pub stages: Vec<StageTime>,
    /// Id of the equal request that ran and whose outcome this request shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub shared_from: Option<RequestId>,
    /// Id of the trace that the request was recorded in, for OpenTelemetry; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

/// Times of one stage of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StageTime {
    /// Name of the stage.
    pub stage: String,
    /// Time from the moment the stage was ready to its grant to the worker that finished it, in
    /// milliseconds.
    pub queued_ms: f64,
    /// Run time of the attempt that finished, in milliseconds.
    pub ran_ms: f64,
    /// Number of attempts of the stage.
    pub attempts: u32,
}

/// Number of requests of a batch, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Counts {
    /// Requests that were acknowledged.
    pub submitted: u32,
    /// Number of requests with a reward.
    pub scored: u32,
    /// Number of requests that timed out.
    pub timed_out: u32,
    /// Number of requests that ended as an error.
    pub error: u32,
    /// Requests among these that did not run, because they share the outcome of an equal request.
    #[serde(default)]
    pub shared: u32,
}

impl Counts {
    /// The number of requests that have ended.
    #[must_use]
    pub const fn finished(self) -> u32 {
        self.scored + self.timed_out + self.error
    }

    /// The number of requests with a reward: of a score, or of a timeout.
    #[must_use]
    pub const fn rewarded(self) -> u32 {
        self.scored + self.timed_out
    }

    /// The mean of the rewards with this sum; absent without a reward.
    #[must_use]
    pub fn mean_reward(self, sum: Option<f64>) -> Option<f64> {
        let rewarded = self.rewarded();
        sum.filter(|_| rewarded > 0).map(|sum| sum / f64::from(rewarded))
    }
}
