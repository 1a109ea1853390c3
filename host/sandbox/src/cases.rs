//! Golden cases: requests with the outcome that a plugin's author expects, one YAML document each.

use std::time::Duration;

use assay_model::outcome::StageEnd;
use assay_model::plugin::Description;
use serde::Deserialize;
use serde_json::Value;

use crate::capability::Capabilities;
use crate::{Input, Loaded, Request, Sandbox, StageCall};

/// How far a reward may lie from the expected one when a case says nothing.
const TOLERANCE: f64 = 1e-9;

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    #[serde(default)]
    settings: Option<serde_json::Map<String, Value>>,
    request: CaseRequest,
    expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseRequest {
    #[serde(default)]
    prompt: String,
    response: String,
    #[serde(default)]
    label: Value,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    group: Option<String>,
    #[serde(default)]
    seed: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    outcome: Kind,
    #[serde(default)]
    reward: Option<f64>,
    #[serde(default)]
    tolerance: Option<f64>,
    #[serde(default)]
    verdict: Option<String>,
    /// Of an error, as in the REST interface.
    #[serde(default)]
    code: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Scored,
    TimedOut,
    Error,
}

impl Case {
    /// Reads one document.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_saphyr::from_str(text).map_err(|error| error.to_string())
    }

    /// Runs every stage in order and compares the end; the error says what was expected and what
    /// came.
    pub fn run(
        &self,
        sandbox: &Sandbox,
        plugin: &Loaded,
        description: &Description,
        capabilities: Option<&Capabilities>,
    ) -> Result<(), String> {
        let end = self.outcome(sandbox, plugin, description, capabilities);
        self.expect.compare(&end, description.timeout_reward)
    }

    fn outcome(
        &self,
        sandbox: &Sandbox,
        plugin: &Loaded,
        description: &Description,
        capabilities: Option<&Capabilities>,
    ) -> StageEnd {
        let settings = self.settings.as_ref().map_or_else(
            || "{}".to_owned(),
            |settings| Value::Object(settings.clone()).to_string(),
        );
        let (label, metadata) = (self.request.label.to_string(), self.request.metadata.to_string());
        let mut artifact = None;
        let stages = description.stages.len();
        for (at, stage) in description.stages.iter().enumerate() {
            let call = StageCall {
                stage: &stage.name,
                settings: &settings,
                request: Request {
                    id: &self.name,
                    group: self.request.group.as_deref(),
                    prompt: &self.request.prompt,
                    response: &self.request.response,
                    label: &label,
                    metadata: &metadata,
                    attempt: 1,
                    seed: self.request.seed,
                },
                input: artifact.as_ref().map(|artifact: &assay_model::outcome::Artifact| Input {
                    content_type: &artifact.content_type,
                    bytes: &artifact.bytes,
                }),
                last: at + 1 == stages,
                timeout: Duration::from_millis(u64::from(stage.timeout_ms)),
                memory_bytes_max: stage.memory_bytes_max,
                capabilities: capabilities.cloned(),
            };
            match sandbox.run_stage(plugin, call).end {
                StageEnd::Next(next) => artifact = Some(next),
                end => return end,
            }
        }
        unreachable!("the last stage cannot end in `next`, and a description has a stage")
    }
}

impl Expect {
    fn compare(&self, end: &StageEnd, timeout_reward: f64) -> Result<(), String> {
        let (kind, reward, verdict, code) = match end {
            StageEnd::Scored(scored) => {
                (Kind::Scored, Some(scored.reward), scored.verdict.as_str(), None)
            }
            StageEnd::TimedOut => (Kind::TimedOut, Some(timeout_reward), "timed_out", None),
            StageEnd::Failed(error) => {
                (Kind::Error, None, error.code.as_str(), Some(error.code.as_str()))
            }
            StageEnd::Next(_) => return Err("the last stage ended in `next`".into()),
        };
        if kind != self.outcome {
            return Err(format!("expected {:?}, got {end:?}", self.outcome));
        }
        if let Some(expected) = self.reward {
            let tolerance = self.tolerance.unwrap_or(TOLERANCE);
            let near = reward.is_some_and(|reward| (reward - expected).abs() <= tolerance);
            if !near {
                return Err(format!(
                    "expected the reward {expected} ± {tolerance}, got {reward:?}"
                ));
            }
        }
        if let Some(expected) = &self.verdict
            && expected != verdict
        {
            return Err(format!("expected the verdict `{expected}`, got `{verdict}`"));
        }
        if let Some(expected) = &self.code
            && Some(expected.as_str()) != code
        {
            return Err(format!("expected the error code `{expected}`, got {code:?}"));
        }
        Ok(())
    }
}
