//! The settings that a run may choose.

use assay_plugin::Error;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Relative; used where a side is written as a decimal or has no exact form. 0: exact only.
    pub tolerance: f64,
    pub reward_correct: f64,
    pub reward_wrong: f64,
    /// Added for an answer in a closed `\boxed{}`, right or wrong.
    pub reward_boxed: f64,
    /// Whether the last number of a response without any mark is its answer.
    pub last_number: bool,
    /// A unit or percent sign must be given as in the label, `x = 5` is not `5`, and a guess at the
    /// last number never counts.
    pub strict: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            reward_correct: 1.0,
            reward_wrong: 0.0,
            reward_boxed: 0.0,
            last_number: true,
            strict: false,
        }
    }
}

pub(crate) const SCHEMA: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "tolerance": {"type": "number", "minimum": 0, "maximum": 0.1, "default": 1e-6,
      "description": "relative; used where a side is written as a decimal or has no exact form"},
    "reward_correct": {"type": "number", "default": 1},
    "reward_wrong": {"type": "number", "default": 0,
      "description": "also without an answer, or with one that is no mathematics"},
    "reward_boxed": {"type": "number", "default": 0,
      "description": "added for an answer in \\boxed{}, right or wrong"},
    "last_number": {"type": "boolean", "default": true,
      "description": "without a mark or formula the last number is the answer"},
    "strict": {"type": "boolean", "default": false,
      "description": "units and percent signs as in the label, no bare value for an equation, no last number"}
  }
}"#;

impl Settings {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        if text.trim() == "{}" {
            return Ok(Self::default());
        }
        let settings: Self = assay_plugin::settings_as(text)?;
        if !(0.0..=0.1).contains(&settings.tolerance) {
            return Err(Error::bad_settings("tolerance must be 0 to 0.1"));
        }
        let rewards = [settings.reward_correct, settings.reward_wrong, settings.reward_boxed];
        if !rewards.iter().all(|reward| reward.is_finite() && reward.abs() <= 1e9) {
            return Err(Error::bad_settings("a reward must be -1e9 to 1e9"));
        }
        Ok(settings)
    }
}
