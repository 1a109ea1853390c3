//! Administrative acts: the JSON shapes of `/v1/audit`, shared by the server and its clients.

use serde::{Deserialize, Serialize};

use crate::time::Micros;

/// One act, with what it changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    /// Grows with time; give the last one of a page as `before` for the next.
    pub id: i64,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    /// Whose things were changed; absent for the platform's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    pub actor: AuditActor,
    /// Noun and verb, such as `key.revoke`.
    pub action: String,
    /// The name or id of what was changed.
    pub subject: String,
    /// Absent for what was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<serde_json::Value>,
    /// Absent for what is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<serde_json::Value>,
}

/// Who acted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditActor {
    /// `key`, `person`, or `platform`: the server itself.
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A key's name, a person's address.
    pub name: String,
    /// The key's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditPage {
    /// The latest first.
    pub items: Vec<AuditEntry>,
    /// Give it as `before` for what came earlier; absent when this is all.
    pub next: Option<i64>,
}

/// Which acts are asked for; every filter narrows them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct AuditFilter {
    /// The tenant whose things were changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Such as `quota.set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The id or the name of a key, the id or the address of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// From this moment on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub since: Option<Micros>,
    /// What came earlier than this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// At most this many; 100 when absent, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}
