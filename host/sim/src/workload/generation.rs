//! How long responses are and when they are ready.
//!
//! Lengths are log-normal, spread between prompts and within a prompt's group, and cut at
//! `tokens_max`; an inference engine has a speed of its own in each iteration and for each group.

use serde::{Deserialize, Serialize};

use super::check::{Checker, SpecError};
use super::random::Random;
use super::{Moment, Shift};

/// The distribution of a response's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lengths {
    /// The median number of tokens at the training's start.
    pub median_tokens: f64,
    /// The growth of the median until the training's end, as a fraction.
    pub drift: f64,
    /// Standard deviations of the log length, between prompts and within a prompt's group.
    pub sigma_between: f64,
    pub sigma_within: f64,
    /// The relative standard deviation of the median from iteration to iteration.
    pub jitter: f64,
    pub tokens_max: u32,
}

/// The paper's CUDA task.
impl Default for Lengths {
    fn default() -> Self {
        Self {
            median_tokens: 4_900.0,
            drift: 0.15,
            sigma_between: 0.4,
            sigma_within: 0.27,
            jitter: 0.01,
            tokens_max: 16_384,
        }
    }
}

impl Lengths {
    pub(super) fn check(&self, checker: &Checker) -> Result<(), SpecError> {
        checker.within("median_tokens", self.median_tokens, 1.0, 1e7)?;
        checker.within("drift", self.drift, -0.99, 100.0)?;
        checker.within("sigma_between", self.sigma_between, 0.0, 5.0)?;
        checker.within("sigma_within", self.sigma_within, 0.0, 5.0)?;
        checker.within("jitter", self.jitter, 0.0, 0.3)?;
        checker.within("tokens_max", f64::from(self.tokens_max), 1.0, 1e7)
    }

    /// This iteration's median.
    pub(super) fn median(&self, moment: &Moment, random: &mut Random) -> f64 {
        let Shift { length, .. } = moment.shift;
        let drifted = self.median_tokens * (1.0 + self.drift * moment.progress);
        drifted * length * random.jitter(self.jitter)
    }

    pub(super) fn group_median(&self, median: f64, random: &mut Random) -> f64 {
        random.log_normal(median, self.sigma_between)
    }

    pub(super) fn tokens(&self, group_median: f64, random: &mut Random) -> u32 {
        let tokens = random.log_normal(group_median, self.sigma_within).round();
        (tokens.max(1.0) as u32).min(self.tokens_max)
    }

    /// The response was cut off, so it holds no answer.
    pub(super) fn is_cut(&self, tokens: u32) -> bool {
        tokens >= self.tokens_max
    }
}

/// How fast responses are generated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Engine {
    /// Seconds a token takes.
    pub token_s: f64,
    /// The relative standard deviation of `token_s`, from iteration to iteration and from group to group.
    pub token_jitter: f64,
    pub prefill_s: f64,
}

impl Default for Engine {
    fn default() -> Self {
        Self { token_s: 0.022, token_jitter: 0.01, prefill_s: 4.0 }
    }
}

impl Engine {
    pub(super) fn check(&self, checker: &Checker) -> Result<(), SpecError> {
        checker.within("token_s", self.token_s, 1e-6, 10.0)?;
        checker.within("token_jitter", self.token_jitter, 0.0, 0.3)?;
        checker.within("prefill_s", self.prefill_s, 0.0, 3_600.0)
    }

    /// An iteration's seconds a token; from it, once more, those of a group.
    pub(super) fn vary(&self, token_s: f64, random: &mut Random) -> f64 {
        token_s * random.jitter(self.token_jitter)
    }

    pub(super) fn rollout_s(&self, tokens: u32, token_s: f64) -> f64 {
        self.prefill_s + f64::from(tokens) * token_s
    }
}
