//! The JSON shapes of `/v1/plugins`.

use assay_core::id::Digest;
use assay_core::plugin::{Stage, VersionName};
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One version of a plugin.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Plugin {
    /// Name of the plugin.
    pub name: String,
    /// Version.
    pub version: String,
    /// SHA-256 of the component.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// Summary for people.
    pub summary: String,
    /// The stages, in order.
    #[schema(value_type = Vec<crate::schema::StageSchema>)]
    pub stages: Vec<Stage>,
    /// JSON Schema of the settings; absent if there is none.
    #[schema(value_type = Option<Value>)]
    pub settings_schema: Option<Box<RawValue>>,
    /// JSON Schema of the labels; absent if there is none.
    #[schema(value_type = Option<Value>)]
    pub label_schema: Option<Box<RawValue>>,
    /// Whether equal input always has an equal reward.
    pub deterministic: bool,
    /// Reward of a request when a stage exceeds its timeout.
    pub timeout_reward: f64,
    /// Channels that point to this version, such as `prod`.
    pub channels: Vec<String>,
    /// Time of the publication.
    #[schema(value_type = String)]
    pub published_at: Micros,
    /// Name of the key, or address of the person, that published it; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_by: Option<String>,
    /// Reason why no new run may use this version; absent while it is not yanked.
    pub yanked: Option<String>,
    /// Numbers of golden cases by state; all 0 if the version has none.
    #[serde(default)]
    pub golden_cases: CaseCounts,
}

impl Plugin {
    /// The name of this version.
    #[must_use]
    pub fn version_name(&self) -> VersionName<'_> {
        VersionName { name: &self.name, version: &self.version }
    }
}

/// Numbers of golden cases of a version, by state. No case of a published version failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CaseCounts {
    /// Number of cases that passed.
    pub passed: u32,
    /// Number of cases that were not run.
    pub not_run: u32,
    /// Number of cases that were skipped.
    pub skipped: u32,
}

/// State of a golden case of a published version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GoldenCaseState {
    /// The outcome was the expected one when the version was published.
    Passed,
    /// The server did not offer what the case needs.
    NotRun,
    /// An administrator published the version without running its cases.
    Skipped,
}

impl GoldenCaseState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Passed, Self::NotRun, Self::Skipped];

    /// The name of the state in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotRun => "not_run",
            Self::Skipped => "skipped",
        }
    }

    /// The state of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// One golden case with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GoldenCase {
    /// Name of its file in the project.
    pub file: String,
    /// SHA-256 of the file.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// State of the case.
    pub state: GoldenCaseState,
    /// Name of the case; empty if it was skipped.
    pub name: String,
    /// Expected outcome, such as `scored, reward 1`; empty if the case was skipped.
    pub expected: String,
    /// Actual outcome with the plugin's explanation; empty if the case was skipped.
    pub actual: String,
    /// Reason why the case was not run; empty otherwise.
    pub reason: String,
    /// Run time of all stages, in milliseconds.
    pub ran_ms: f64,
}

/// The golden cases of a version.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GoldenCaseList {
    /// The golden cases.
    pub items: Vec<GoldenCase>,
}

/// A page of versions of plugins.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PluginList {
    /// The versions of this page.
    pub items: Vec<Plugin>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// `GET /v1/plugins/{name}/channels`: sorted by name.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PluginChannelList {
    /// The channels.
    pub items: Vec<PluginChannel>,
}

/// A channel of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PluginChannel {
    /// Name of the channel.
    pub channel: String,
    /// Version to which it points.
    pub version: String,
    /// Time at which it was last promoted or rolled back.
    #[schema(value_type = String)]
    pub promoted_at: Micros,
    /// Version that a rollback chooses: the last one before that is not yanked; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolls_back_to: Option<String>,
}

/// `PUT /v1/plugins/{name}/channels/{channel}`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PromotePlugin {
    /// Version to which the channel points from now on.
    pub version: String,
}

/// `POST /v1/plugins/{name}/channels/{channel}/rollback`; may be empty.
#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollBackPlugin {
    /// Version from which the channel is rolled back; the call is refused if the channel points to another one. A call
    /// that names it can be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// `POST /v1/plugins/{name}/versions/{version}/yank`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct YankPlugin {
    /// Reason why no new run may use the version.
    pub reason: String,
}
