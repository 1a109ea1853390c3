//! The settings that a run may choose.

use assay_plugin::Error;
use serde::Deserialize;

/// The least that a response must do to mark its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFrom {
    /// Only `\boxed{}` counts.
    Box,
    /// Also `####`, `Answer:` and "answer is".
    Mark,
    /// Also a last formula, and a response that is nothing but an answer.
    Formula,
    /// Also the last number.
    #[default]
    Anywhere,
}

/// Which boxes count where several are no single answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boxes {
    /// The last one; those before are steps or second thoughts.
    #[default]
    Last,
    /// All must be equal.
    Agree,
}

/// The project whose rules decide what is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    #[default]
    Assay,
    MathVerify,
    Hendrycks,
    Gsm8k,
    Minerva,
    Prime,
    MultipleChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub profile: Profile,
    pub answer_from: AnswerFrom,
    pub boxes: Boxes,
    /// Relative; used where a side is written as a decimal. 0: exact only.
    pub tolerance: f64,
    /// Decimals to which rounded numbers may also be equal, absolutely.
    pub decimals: Option<u32>,
    pub reward_correct: f64,
    pub reward_wrong: f64,
    /// Added for an answer in a closed `\boxed{}`, right or wrong.
    pub reward_boxed: f64,
    /// A unit or percent sign must be given as in the label, `x = 5` is not `5`, a guess at the
    /// last number never counts, and a label that is no mathematics is an error.
    pub strict: bool,
    /// An unbracketed list is the point with the same members, as one profile has it.
    #[serde(skip)]
    pub lists_as_points: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            profile: Profile::Assay,
            answer_from: AnswerFrom::Anywhere,
            boxes: Boxes::Last,
            tolerance: 1e-6,
            decimals: None,
            reward_correct: 1.0,
            reward_wrong: 0.0,
            reward_boxed: 0.0,
            strict: false,
            lists_as_points: false,
        }
    }
}

pub(crate) const SCHEMA: &str = r##"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "profile": {"default": "assay",
      "enum": ["assay", "math-verify", "hendrycks", "gsm8k", "minerva", "prime", "multiple-choice"],
      "description": "whose rules decide; with another than assay only the rewards may be set, with math-verify also decimals"},
    "answer_from": {"enum": ["box", "mark", "formula", "anywhere"], "default": "anywhere",
      "description": "the least that marks an answer: \\boxed{}; also #### and \"answer is\"; also a last formula; also the last number"},
    "boxes": {"enum": ["last", "agree"], "default": "last",
      "description": "the last box counts, or all must be equal"},
    "tolerance": {"type": "number", "minimum": 0, "maximum": 0.1, "default": 1e-6,
      "description": "relative; used where a side is written as a decimal"},
    "decimals": {"type": ["integer", "null"], "minimum": 0, "maximum": 30, "default": null,
      "description": "decimals to which rounded numbers may also be equal"},
    "reward_correct": {"type": "number", "minimum": -1e9, "maximum": 1e9, "default": 1},
    "reward_wrong": {"type": "number", "minimum": -1e9, "maximum": 1e9, "default": 0,
      "description": "also without an answer, or with one that is no mathematics"},
    "reward_boxed": {"type": "number", "minimum": -1e9, "maximum": 1e9, "default": 0,
      "description": "added for an answer in \\boxed{}, right or wrong"},
    "strict": {"type": "boolean", "default": false,
      "description": "units and percent signs as in the label, no bare value for an equation, no last number, an error for a label that is no mathematics"}
  }
}"##;

/// Decimals at most.
const DECIMALS_MAX: u32 = 30;

impl Settings {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        if text.trim() == "{}" {
            return Ok(Self::default());
        }
        let settings: Self = assay_plugin::settings_as(text)?;
        if !(0.0..=0.1).contains(&settings.tolerance) {
            return Err(Error::bad_settings("tolerance must be 0 to 0.1"));
        }
        if settings.decimals.is_some_and(|decimals| decimals > DECIMALS_MAX) {
            return Err(Error::bad_settings(format!("decimals must be 0 to {DECIMALS_MAX}")));
        }
        let rewards = [settings.reward_correct, settings.reward_wrong, settings.reward_boxed];
        if !rewards.iter().all(|reward| reward.is_finite() && reward.abs() <= 1e9) {
            return Err(Error::bad_settings("a reward must be -1e9 to 1e9"));
        }
        if settings.profile != Profile::Assay && settings != settings.rewards_alone() {
            return Err(Error::bad_settings(
                "a profile fixes its rules: set only rewards beside it (and decimals beside math-verify), or leave the profile out",
            ));
        }
        Ok(settings)
    }

    /// The same profile and rewards with everything else as by default.
    fn rewards_alone(self) -> Self {
        Self {
            profile: self.profile,
            decimals: self.decimals.filter(|_| self.profile == Profile::MathVerify),
            reward_correct: self.reward_correct,
            reward_wrong: self.reward_wrong,
            reward_boxed: self.reward_boxed,
            ..Self::default()
        }
    }
}
