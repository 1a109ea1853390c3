//! What comes of requests: one result each, and how many ended how.

use serde::{Deserialize, Serialize};

use crate::id::RequestId;
use crate::outcome::Outcome;

/// One finished request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResultItem {
    /// Place in the order of completion, from 1; give it as `after` to go on behind it.
    pub cursor: u32,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: RequestId,
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    pub outcome: Outcome,
    /// The stages that ran, in order; none if the outcome is another's.
    pub stages: Vec<StageTime>,
    /// The equal request that ran; its outcome is this one's as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub shared_from: Option<RequestId>,
}

/// When one stage of one request ran, relative to the request's arrival.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageTime {
    pub stage: String,
    /// From becoming ready to being granted to the worker that finished it.
    pub queued_ms: f64,
    pub ran_ms: f64,
    pub attempts: u32,
}

/// Requests of a batch by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Counts {
    /// Acknowledged.
    pub submitted: u32,
    pub scored: u32,
    pub timed_out: u32,
    pub error: u32,
    /// Of all that ended those that did not run: an equal request's outcome is theirs.
    #[serde(default)]
    pub shared: u32,
}

impl Counts {
    #[must_use]
    pub const fn finished(self) -> u32 {
        self.scored + self.timed_out + self.error
    }
}
