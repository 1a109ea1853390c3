//! Samples: the requests of a run with their texts and outcomes, to be analysed elsewhere.

use std::collections::BTreeMap;

use assay_core::id::{BatchId, RequestId};
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One request of a run with its texts and, once it has ended, its outcome.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Sample {
    #[schema(value_type = String)]
    pub id: RequestId,
    #[schema(value_type = String)]
    pub batch: BatchId,
    pub iteration: u64,
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// `scored`, `timed_out` or `error`; absent while it waits or runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The plugin's verdict, `timed_out`, or the error's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Absent for an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// The parts that the reward was made from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, f64>,
    /// The plugin's explanation, or the error's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[schema(value_type = String)]
    pub arrived_at: Micros,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub finished_at: Option<Micros>,
    /// Absent without texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub label: Option<Box<RawValue>>,
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
}
