//! The JSON shape of every error answer (RFC 9457).

use serde::{Deserialize, Serialize};

/// RFC 9457 problem, `application/problem+json`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Problem {
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// Stable code of the error, for programs.
    pub code: String,
    pub detail: String,
    /// Advice on what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
