//! The JSON shapes for authors of plugins.

use serde::{Deserialize, Serialize};

use assay_core::id::RequestId;

/// `GET /v1/runs/{run}/logs`: the newest batch first, and each batch in the order of its requests.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LogPage {
    /// The lines of this page.
    pub items: Vec<RunLogLine>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// `GET /v1/batches/{id}/logs`: the lines of ended requests, in the order of completion.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchLogPage {
    /// The lines of this page.
    pub items: Vec<RunLogLine>,
    /// Cursor of the next page, to be sent as `after`; also of lines that are not there yet.
    pub next: String,
    /// Whether the page is full, so that more lines may be there already.
    pub full: bool,
}

/// One line that a plugin logged for a request of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunLogLine {
    /// Id of the request.
    #[schema(value_type = String)]
    pub request: RequestId,
    /// Verdict of the request: the plugin's verdict, `timed_out`, or the error's code; absent while
    /// it waits or runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Name of the stage.
    pub stage: String,
    /// Level: `debug`, `info`, `warn`, `error`, or `stderr`.
    pub level: String,
    /// The message.
    pub message: String,
}
