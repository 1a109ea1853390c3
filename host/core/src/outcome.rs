//! How a stage ends and how a request ends. An infrastructure failure is never a number.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;

/// A reward, as the plugin gave it. Always finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The reward; finite.
    pub reward: f64,
    /// The plugin's word for what happened.
    pub verdict: String,
    /// The parts the reward was made from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, f64>,
    /// A text for people; empty when there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explanation: String,
}

impl Scored {
    /// A plugin is hostile input: checks that every number is finite and every text within limits.
    pub fn check(&self) -> Result<(), String> {
        if !self.reward.is_finite() {
            return Err(format!("the reward is {}, not a finite number", self.reward));
        }
        if self.verdict.is_empty() || self.verdict.len() > limits::VERDICT_BYTES_MAX {
            let bytes = self.verdict.len();
            return Err(format!(
                "the verdict has {bytes} bytes, not 1 to {}",
                limits::VERDICT_BYTES_MAX
            ));
        }
        if self.verdict.chars().any(char::is_control) {
            return Err("the verdict has a control character".into());
        }
        if self.explanation.len() > limits::EXPLANATION_BYTES_MAX {
            let bytes = self.explanation.len();
            return Err(format!(
                "the explanation has {bytes} bytes, the limit is {}",
                limits::EXPLANATION_BYTES_MAX
            ));
        }
        if self.components.len() > limits::COMPONENTS_MAX {
            return Err(format!(
                "{} components, the limit is {}",
                self.components.len(),
                limits::COMPONENTS_MAX
            ));
        }
        for (name, value) in &self.components {
            if name.len() > limits::COMPONENT_NAME_BYTES_MAX {
                return Err(format!(
                    "a component's name has {} bytes, the limit is {}",
                    name.len(),
                    limits::COMPONENT_NAME_BYTES_MAX
                ));
            }
            if !value.is_finite() {
                return Err(format!("the component `{name}` is {value}, not a finite number"));
            }
        }
        Ok(())
    }
}

/// Why there is no reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The plugin trapped or panicked.
    PluginTrap,
    /// The plugin said that it failed (`error.internal`).
    PluginError,
    /// The plugin exceeded its memory or table limit.
    OutOfMemory,
    /// The plugin exceeded its stack.
    StackOverflow,
    /// The plugin returned something that is no outcome.
    BadOutcome,
    /// The plugin refused the request (`error.bad-request`).
    BadRequest,
    /// The plugin refused the run's settings (`error.bad-settings`).
    BadSettings,
    /// A capability was not to be had (`error.unavailable`).
    Unavailable,
    /// The plugin could not be loaded on the worker.
    PluginUnloadable,
    /// The request's workers died while they ran it.
    WorkerLost,
    /// The stage got too little of its machine to end in time, or ran past its deadline and its worker was killed.
    LeaseExpired,
    /// The batch was cancelled or expired first.
    Cancelled,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [Self; 12] = [
        Self::PluginTrap,
        Self::PluginError,
        Self::OutOfMemory,
        Self::StackOverflow,
        Self::BadOutcome,
        Self::BadRequest,
        Self::BadSettings,
        Self::Unavailable,
        Self::PluginUnloadable,
        Self::WorkerLost,
        Self::LeaseExpired,
        Self::Cancelled,
    ];

    /// The code as it is stored and sent: `plugin_trap`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PluginTrap => "plugin_trap",
            Self::PluginError => "plugin_error",
            Self::OutOfMemory => "out_of_memory",
            Self::StackOverflow => "stack_overflow",
            Self::BadOutcome => "bad_outcome",
            Self::BadRequest => "bad_request",
            Self::BadSettings => "bad_settings",
            Self::Unavailable => "unavailable",
            Self::PluginUnloadable => "plugin_unloadable",
            Self::WorkerLost => "worker_lost",
            Self::LeaseExpired => "lease_expired",
            Self::Cancelled => "cancelled",
        }
    }

    /// The code of this text; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// Whether the very same request may end otherwise when it is tried again.
    #[must_use]
    pub const fn retryable(self) -> bool {
        matches!(
            self,
            Self::PluginError
                | Self::Unavailable
                | Self::PluginUnloadable
                | Self::WorkerLost
                | Self::LeaseExpired
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Bytes that one stage hands to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The media type, as the plugin gives it.
    pub content_type: String,
    /// The bytes; the host does not read them.
    pub bytes: Vec<u8>,
}

/// How one run of one stage ended, as the worker saw it.
#[derive(Debug, Clone, PartialEq)]
pub enum StageEnd {
    /// The stage returned an artifact for the next stage.
    Next(Artifact),
    /// The last stage returned a reward.
    Scored(Scored),
    /// The stage ran into its timeout.
    TimedOut,
    /// The stage failed.
    Failed(StageError),
}

impl StageEnd {
    /// Whether the machine kept the stage waiting for so long that it was ended. That is no fault of the plugin.
    #[must_use]
    pub fn is_starved(&self) -> bool {
        matches!(self, Self::Failed(error) if error.code == ErrorCode::LeaseExpired)
    }
}

/// The reason why a stage failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageError {
    /// The code of the error.
    pub code: ErrorCode,
    /// The message for the plugin's author; at most [`limits::ERROR_MESSAGE_BYTES_MAX`] bytes.
    pub message: String,
}

/// How a request ended: what a trainer gets. The error has no numeric reward by construction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The plugin returned a reward.
    Scored(Scored),
    /// A stage ran into its timeout; the reward is the plugin's policy for that (the paper's
    /// negative reward).
    TimedOut {
        /// The name of the stage.
        stage: String,
        /// The plugin's reward for a timeout; finite.
        reward: f64,
    },
    /// There is no reward.
    Error {
        /// The code of the error.
        code: ErrorCode,
        /// The message for the plugin's author.
        message: String,
        /// Whether the same request may end otherwise when it is submitted again.
        retryable: bool,
        /// The attempts of the stage that failed.
        attempts: u32,
    },
}

impl Outcome {
    /// The reward; `None` for an error.
    #[must_use]
    pub fn reward(&self) -> Option<f64> {
        match self {
            Self::Scored(scored) => Some(scored.reward),
            Self::TimedOut { reward, .. } => Some(*reward),
            Self::Error { .. } => None,
        }
    }

    /// The kind as it is stored and sent: `scored`, `timed_out` or `error`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Scored(_) => "scored",
            Self::TimedOut { .. } => "timed_out",
            Self::Error { .. } => "error",
        }
    }

    /// The names of the fields in which another outcome of the same request differs: `kind`, `verdict`,
    /// `reward`.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let compared = [
            ("kind", self.kind() == other.kind()),
            ("verdict", self.verdict() == other.verdict()),
            ("reward", self.reward() == other.reward()),
        ];
        compared.iter().filter(|(_, equal)| !equal).map(|(what, _)| *what).collect()
    }

    /// The word for what happened: the plugin's verdict, `timed_out`, or the error's code.
    #[must_use]
    pub fn verdict(&self) -> &str {
        match self {
            Self::Scored(scored) => &scored.verdict,
            Self::TimedOut { .. } => "timed_out",
            Self::Error { code, .. } => code.as_str(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_no_number_for_a_reward() {
        let error = Outcome::Error {
            code: ErrorCode::WorkerLost,
            message: "the worker died".into(),
            retryable: true,
            attempts: 4,
        };
        let json = serde_json::to_value(&error).expect("plain");
        assert_eq!(json["kind"], "error");
        assert_eq!(json["code"], "worker_lost");
        assert!(json.get("reward").is_none());
        assert_eq!(error.reward(), None);
    }

    #[test]
    fn a_reward_that_is_no_number_is_refused() {
        let scored = |reward| Scored {
            reward,
            verdict: "success".into(),
            components: BTreeMap::new(),
            explanation: String::new(),
        };
        assert_eq!(scored(1.0).check(), Ok(()));
        assert!(scored(f64::NAN).check().is_err());
        assert!(scored(f64::INFINITY).check().is_err());
    }

    #[test]
    fn codes_survive_their_text() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
            assert_eq!(serde_json::to_value(code).expect("plain"), code.as_str());
        }
    }

    #[test]
    fn outcomes_differ_by_kind_verdict_and_reward() {
        let scored = |reward, verdict: &str| {
            Outcome::Scored(Scored {
                reward,
                verdict: verdict.into(),
                components: BTreeMap::from([("time".into(), reward * 2.0)]),
                explanation: String::new(),
            })
        };
        let error = Outcome::Error {
            code: ErrorCode::WorkerLost,
            message: "gone".into(),
            retryable: true,
            attempts: 4,
        };
        assert_eq!(scored(1.0, "right").differences(&scored(1.0, "right")), [""; 0]);
        assert_eq!(scored(1.0, "right").differences(&scored(0.5, "right")), ["reward"]);
        assert_eq!(scored(1.0, "right").differences(&error), ["kind", "verdict", "reward"]);
        assert_eq!(error.differences(&error), [""; 0]);
    }
}
