//! What plugin authors read over the REST interface.

use serde::{Deserialize, Serialize};

use crate::id::RequestId;

/// `GET /v1/runs/{run}/logs`: the newest batch first, in it by request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogPage {
    pub items: Vec<RunLogLine>,
    /// Give it as `after` for the page behind; absent when this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One line that a plugin logged for a request of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunLogLine {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub request: RequestId,
    /// The request's word for what happened; absent while it waits or runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    pub stage: String,
    /// `debug`, `info`, `warn`, `error`, or `stderr`.
    pub level: String,
    pub message: String,
}
