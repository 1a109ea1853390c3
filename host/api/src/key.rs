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
    /// Announce, submit, seal and cancel batches.
    #[serde(rename = "batches:write")]
    BatchesWrite,
    /// Read batches, runs, requests and results.
    #[serde(rename = "batches:read")]
    BatchesRead,
    /// Publish versions of plugins.
    #[serde(rename = "plugins:publish")]
    PluginsPublish,
    /// Point channels to versions.
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
    /// All scopes.
    pub const ALL: [Self; 6] = [
        Self::BatchesWrite,
        Self::BatchesRead,
        Self::PluginsPublish,
        Self::PluginsPromote,
        Self::Admin,
        Self::Platform,
    ];

    /// The name of the scope, such as `batches:write`.
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

    /// The scope of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// The key to make.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// Name of the tenant; your own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Name of the key.
    #[serde(default)]
    pub name: String,
    /// Scopes.
    pub scopes: Vec<Scope>,
    /// Time at which it expires; absent if it never does.
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
    /// Name of the key.
    #[serde(default)]
    pub name: String,
    /// Scopes of the key, which are some of your role's; `admin:*` and `platform:*` are for keys of the
    /// tenant alone.
    pub scopes: Vec<Scope>,
    /// Time at which it expires; absent if it never does.
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

/// An API key, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Key {
    /// Id of the key.
    #[schema(value_type = String)]
    pub id: KeyId,
    /// Name of the key's tenant.
    pub tenant: String,
    /// Name of the key.
    pub name: String,
    /// The public part of the key.
    pub prefix: String,
    /// Scopes.
    pub scopes: Vec<Scope>,
    /// Time of the creation.
    #[schema(value_type = String)]
    pub created_at: Micros,
    /// Time at which it expires; absent if it never does.
    #[schema(value_type = Option<String>)]
    pub expires_at: Option<Micros>,
    /// Time of the revocation; absent while it is valid.
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

/// A list of API keys.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyList {
    /// The keys.
    pub items: Vec<Key>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
