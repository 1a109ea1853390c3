//! Samples: the requests of a run with their texts and outcomes, to be analysed elsewhere.

use std::collections::BTreeMap;

use assay_core::id::{BatchId, RequestId};
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One request of a run with its texts and, once it has ended, its outcome.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Sample {
    /// Id of the request.
    #[schema(value_type = String)]
    pub id: RequestId,
    /// Id of the batch.
    #[schema(value_type = String)]
    pub batch: BatchId,
    /// Number of the iteration in its run.
    pub iteration: u64,
    /// Key of the request, which is unique in its batch.
    pub key: String,
    /// Name of the group; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// `scored`, `timed_out` or `error`; absent while it waits or runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The plugin's verdict, `timed_out`, or the error's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The reward; absent for an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// The parts that the reward was made from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, f64>,
    /// The plugin's explanation, or the error's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Time of the arrival.
    #[schema(value_type = String)]
    pub arrived_at: Micros,
    /// Time of the end; absent while it waits or runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub finished_at: Option<Micros>,
    /// The prompt; absent without texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The response; absent without texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// The label; absent without texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub label: Option<Box<RawValue>>,
    /// Metadata for the plugin; absent without texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Box<RawValue>>,
}

/// The file format of samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SampleFormat {
    /// One JSON object a line.
    #[default]
    Jsonl,
    /// Comma-separated values with a head, as RFC 4180 has them.
    Csv,
    /// Apache Parquet: columns, compressed.
    Parquet,
}

/// A column by which samples are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleColumn {
    /// The iteration of the batch.
    Iteration,
    /// The reward.
    Reward,
    /// The distance of the reward from the mean of its group, in standard deviations.
    Advantage,
    /// The verdict.
    Verdict,
    /// The kind of the outcome.
    Kind,
    /// The name of the group.
    Group,
    /// The key of the request.
    Key,
    /// The beginning of the text, as for `response` and `label`.
    Prompt,
    /// The beginning of the response.
    Response,
    /// The beginning of the label's JSON.
    Label,
    /// The number of characters of the prompt.
    PromptChars,
    /// The number of characters of the response.
    ResponseChars,
    /// The milliseconds from arrival to end.
    TookMs,
    /// The component of the reward that the filter `component` names.
    Component,
}

impl SampleColumn {
    /// Every column, in the order of the documentation.
    pub const ALL: [Self; 14] = [
        Self::Iteration,
        Self::Reward,
        Self::Advantage,
        Self::Verdict,
        Self::Kind,
        Self::Group,
        Self::Key,
        Self::Prompt,
        Self::Response,
        Self::Label,
        Self::PromptChars,
        Self::ResponseChars,
        Self::TookMs,
        Self::Component,
    ];

    /// The name as it is sent: `response_chars`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Reward => "reward",
            Self::Advantage => "advantage",
            Self::Verdict => "verdict",
            Self::Kind => "kind",
            Self::Group => "group",
            Self::Key => "key",
            Self::Prompt => "prompt",
            Self::Response => "response",
            Self::Label => "label",
            Self::PromptChars => "prompt_chars",
            Self::ResponseChars => "response_chars",
            Self::TookMs => "took_ms",
            Self::Component => "component",
        }
    }
}

/// How the rewards of a complete group differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupRewards {
    /// All are equal and above zero.
    AllRight,
    /// All are equal, and zero or less.
    AllWrong,
    /// Some differ.
    Mixed,
}

impl GroupRewards {
    /// Every value.
    pub const ALL: [Self; 3] = [Self::AllRight, Self::AllWrong, Self::Mixed];

    /// The name as it is sent: `all_right`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AllRight => "all_right",
            Self::AllWrong => "all_wrong",
            Self::Mixed => "mixed",
        }
    }
}

/// A sample as a row of a list, with the beginnings of its texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SampleSummary {
    /// The id of the request.
    #[schema(value_type = String)]
    pub id: RequestId,
    /// The id of its batch.
    #[schema(value_type = String)]
    pub batch: BatchId,
    /// The name of the run.
    pub run: String,
    /// The iteration of the batch.
    pub iteration: u64,
    /// The key that the trainer gave the request.
    pub key: String,
    /// The name of its group; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// How the rewards of the group differ; absent without a group that is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_rewards: Option<GroupRewards>,
    /// `scored`, `timed_out` or `error`.
    pub kind: String,
    /// The plugin's verdict, `timed_out`, or the error's code.
    pub verdict: String,
    /// Absent for an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// The distance of the reward from the mean of its group, in standard deviations; absent without a
    /// group or a reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advantage: Option<f64>,
    /// The parts that the reward was made from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, f64>,
    /// The first characters of the text, as for `response` and `label`.
    pub prompt: String,
    /// The first characters of the response.
    pub response: String,
    /// The label as JSON; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Number of characters of the prompt.
    pub prompt_chars: u32,
    /// Number of characters of the response.
    pub response_chars: u32,
    /// The time at which it arrived.
    #[schema(value_type = String)]
    pub arrived_at: Micros,
    /// Milliseconds from its arrival to its end.
    pub took_ms: f64,
}

/// A page of samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SampleList {
    /// The samples, in the order asked for.
    pub items: Vec<SampleSummary>,
    /// Cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Number of newest samples of the runs among which the items are, where older ones were left out: no index has
    /// the order, or few samples match the filters. `iteration_min` and `iteration_max` reach older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<u32>,
    /// Number of ended batches whose samples are still being prepared and are not in the list; at most 1,000.
    /// A batch that has not ended counts where it is asked for.
    pub preparing: u32,
    /// Whether samples are prepared, and whether their words are.
    pub prepared: SamplesPrepared,
}

/// The part of samples that the server prepares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SamplesPrepared {
    /// Rows, and words to be searched.
    #[default]
    Words,
    /// Rows without words.
    Rows,
    /// Nothing: lists of samples have only what was prepared earlier.
    Nothing,
}

/// `GET /v1/runs/{run}/solve-rates`: the solve rate of a prompt as columns, the oldest batch first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SolveRates {
    /// Name of the group.
    pub group: String,
    /// The smallest reward that is a pass.
    pub pass_reward: f64,
    /// Ids of the batches.
    #[schema(value_type = Vec<String>)]
    pub batch: Vec<BatchId>,
    /// Numbers of their iterations.
    pub iteration: Vec<u64>,
    /// Number of samples of the group that have a reward.
    pub samples: Vec<u32>,
    /// Number of those that passed; the solve rate is their part.
    pub passed: Vec<u32>,
    /// Mean rewards.
    pub mean: Vec<f64>,
    /// Whether earlier batches were not read.
    pub earlier: bool,
}

impl SolveRates {
    /// Columns without a batch.
    #[must_use]
    pub const fn empty(group: String, pass_reward: f64, earlier: bool) -> Self {
        Self {
            group,
            pass_reward,
            batch: Vec::new(),
            iteration: Vec::new(),
            samples: Vec::new(),
            passed: Vec::new(),
            mean: Vec::new(),
            earlier,
        }
    }
}
