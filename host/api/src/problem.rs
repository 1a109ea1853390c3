//! The JSON shape of every error answer (RFC 9457).

use std::fmt;

use serde::{Deserialize, Serialize};

/// RFC 9457 problem, `application/problem+json`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Problem {
    /// URI of the problem type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Title of the HTTP status.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// Stable code of the error, for programs.
    pub code: String,
    /// Description as a sentence.
    pub detail: String,
    /// Advice on what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Member of the body that is at fault, with dots between levels, such as
    /// `quotas.workers_max.cpu`; absent if it is none or not a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Id of the HTTP request, as in the server's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// A refusal of one member of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The member, as [`Problem::field`] names it.
    pub field: String,
    /// Description of the fault.
    pub detail: String,
}

impl FieldError {
    /// A fault of this member.
    #[must_use]
    pub fn new(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { field: field.into(), detail: detail.into() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.detail)
    }
}

impl std::error::Error for FieldError {}
