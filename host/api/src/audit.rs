//! Administrative actions: the JSON shapes of `/v1/audit`, shared by the server and its clients.

use serde::{Deserialize, Serialize};

use assay_core::time::Micros;

/// One act, with what it changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditEntry {
    /// Id of the entry; later entries have higher ids.
    pub id: i64,
    /// Time of the change.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Tenant that was changed; absent for changes to the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Who made the change.
    pub actor: AuditActor,
    /// Noun and verb, such as `key.revoke`.
    pub action: String,
    /// Name or id of the changed object.
    pub subject: String,
    /// Value before the change; absent for a created object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<serde_json::Value>,
    /// Value after the change; absent for a deleted object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<serde_json::Value>,
}

/// The actor of an administrative action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditActor {
    /// `key`, `person`, or `platform`: the server itself.
    pub kind: String,
    /// Id of the key or person; absent for the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name of the key, or address of the person.
    pub name: String,
    /// Tenant in which the key or person acted; absent where it was not noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// A page of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditPage {
    /// The latest first.
    pub items: Vec<AuditEntry>,
    /// Cursor of the next page, to be sent as `before`; absent on the last page.
    pub next: Option<i64>,
}

/// Filters for the audit; an entry must match all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct AuditFilter {
    /// Name of the tenant that was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Action, such as `quota.set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Id or name of a key, or id or address of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Earliest time of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub since: Option<Micros>,
    /// Id of an entry; only older ones are returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// Maximum number of items: 100 when absent, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}
