//! Requests that a server recorded, scored again on an author's machine: the lines of JSON that the command line gives to
//! the worker program, and those that it answers.

use serde::{Deserialize, Serialize};

use crate::id::Digest;
use crate::outcome::Outcome;

/// A request as it was recorded. `label`, `metadata` and `settings` are JSON text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedRequest {
    /// Its id; of an equal request whose outcome it shared, that request's.
    pub id: String,
    /// Its group, if it has one.
    #[serde(default)]
    pub group: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// The model's response.
    pub response: String,
    /// The label.
    pub label: String,
    /// The metadata.
    pub metadata: String,
    /// The settings of its run.
    pub settings: String,
    /// The seed of its randomness.
    pub seed: u64,
}

/// The result of a recorded request on this machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScoredRequest {
    /// The id of the recorded request.
    pub id: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The stages that ran, in order.
    pub stages: Vec<ScoredStage>,
    /// The lines of all stages' logs.
    pub logs: Vec<ScoredLogLine>,
}

/// One stage that ran.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScoredStage {
    /// The name of the stage.
    pub stage: String,
    /// The time that it ran, in milliseconds.
    pub ran_ms: f64,
    /// The artifact for the next stage; `None` after the last.
    pub artifact: Option<ScoredArtifact>,
}

/// An artifact without its bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScoredArtifact {
    /// The content type that the plugin gave.
    pub content_type: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The digest of the bytes.
    pub digest: Digest,
}

/// One line of a stage's log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScoredLogLine {
    /// The name of the stage.
    pub stage: String,
    /// The level, such as `info`.
    pub level: String,
    /// The text.
    pub message: String,
}
