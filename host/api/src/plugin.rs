//! The JSON shapes of `/v1/plugins`.

use assay_core::id::Digest;
use assay_core::plugin::Stage;
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One version of a plugin.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Plugin {
    pub name: String,
    pub version: String,
    #[schema(value_type = String)]
    pub digest: Digest,
    pub summary: String,
    #[schema(value_type = Vec<crate::schema::StageSchema>)]
    pub stages: Vec<Stage>,
    #[schema(value_type = Option<Value>)]
    pub settings_schema: Option<Box<RawValue>>,
    #[schema(value_type = Option<Value>)]
    pub label_schema: Option<Box<RawValue>>,
    pub deterministic: bool,
    pub timeout_reward: f64,
    /// Channels that point to this version, such as `prod`.
    pub channels: Vec<String>,
    #[schema(value_type = String)]
    pub published_at: Micros,
    /// Name of the key, or address of the person, that published it; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_by: Option<String>,
    /// Reason why no new run may use this version; absent while it is not yanked.
    pub yanked: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PluginList {
    pub items: Vec<Plugin>,
}

/// `PUT /v1/plugins/{name}/channels/{channel}`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PromotePlugin {
    pub version: String,
}

/// `POST /v1/plugins/{name}/versions/{version}/yank`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct YankPlugin {
    pub reason: String,
}
