//! API keys and scopes: the JSON shapes of `/v1/keys`.

use assay_core::id::KeyId;
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

/// One permission of a key.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
pub enum Scope {
    #[serde(rename = "batches:write")]
    BatchesWrite,
    #[serde(rename = "batches:read")]
    BatchesRead,
    #[serde(rename = "plugins:publish")]
    PluginsPublish,
    #[serde(rename = "plugins:promote")]
    PluginsPromote,
    /// The key's own tenant: its keys, members, settings, usage and audit.
    #[serde(rename = "admin:*")]
    Admin,
    /// All tenants and the platform: quotas, grants, weights, capacity, metrics, audit.
    #[serde(rename = "platform:*")]
    Platform,
}

impl Scope {
    pub const ALL: [Self; 6] = [
        Self::BatchesWrite,
        Self::BatchesRead,
        Self::PluginsPublish,
        Self::PluginsPromote,
        Self::Admin,
        Self::Platform,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BatchesWrite => "batches:write",
            Self::BatchesRead => "batches:read",
            Self::PluginsPublish => "plugins:publish",
            Self::PluginsPromote => "plugins:promote",
            Self::Admin => "admin:*",
            Self::Platform => "platform:*",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// Name of the tenant; your own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    #[serde(default)]
    pub name: String,
    pub scopes: Vec<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub expires_at: Option<Micros>,
    /// Plugins that the key may use, as `name` or `name@channel`; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<String>>,
}

/// `POST /v1/session/keys`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreatePersonalKey {
    #[serde(default)]
    pub name: String,
    /// Scopes of the key, which are some of your role's; `admin:*` and `platform:*` are for keys of the
    /// tenant alone.
    pub scopes: Vec<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub expires_at: Option<Micros>,
    /// Plugins that the key may use, as `name` or `name@channel`; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<String>>,
}

/// `POST /v1/keys/{id}/rotate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RotateKey {
    /// Hours for which the old secret still works: 24 when absent, 720 at most, 0 to end it at
    /// once.
    pub overlap_hours: u32,
}

impl Default for RotateKey {
    fn default() -> Self {
        Self { overlap_hours: assay_core::limits::KEY_OVERLAP_HOURS_DEFAULT }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Key {
    #[schema(value_type = String)]
    pub id: KeyId,
    pub tenant: String,
    pub name: String,
    /// The public part of the key.
    pub prefix: String,
    pub scopes: Vec<Scope>,
    #[schema(value_type = String)]
    pub created_at: Micros,
    #[schema(value_type = Option<String>)]
    pub expires_at: Option<Micros>,
    #[schema(value_type = Option<String>)]
    pub revoked_at: Option<Micros>,
    /// Time of the last use, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub last_used_at: Option<Micros>,
    /// Time until which the secret before the last rotation works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub previous_secret_until: Option<Micros>,
    /// Plugins that the key may use; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<String>>,
    /// Address of the person whose personal key it is; absent for a key of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The whole key; shown only once, when it is created or rotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyList {
    pub items: Vec<Key>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
