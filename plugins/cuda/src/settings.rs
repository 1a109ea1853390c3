//! The settings that a run may choose.

use assay_plugin::Error;
use serde::Deserialize;

use crate::verdict::Verdict;

pub(crate) const SCHEMA: &str = include_str!("schema/settings.json");

const REWARD_MAX: f64 = 1e9;
const THRESHOLDS_MAX: usize = 32;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) policy: Policy,
    /// The reward of a speed-up of 1, under the policy `speedup`.
    pub(crate) speedup_scale: f64,
    /// The largest reward under the policy `speedup`.
    pub(crate) speedup_max: f64,
    /// The rewards under the policy `thresholds`, in ascending order of speedup.
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) rewards: Rewards,
    /// Different inputs at each size; the first are used twice.
    pub(crate) seeds: u32,
    /// The time limit for one run of a response's plan, in milliseconds.
    pub(crate) plan_ms: u32,
    /// The least number of timed runs.
    pub(crate) trials: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            policy: Policy::Correctness,
            speedup_scale: 1.0,
            speedup_max: 10.0,
            thresholds: Vec::new(),
            rewards: Rewards::default(),
            seeds: 2,
            plan_ms: 10_000,
            trials: 30,
        }
    }
}

/// The rule for the reward of a right answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Policy {
    Correctness,
    Speedup,
    Thresholds,
}

impl Policy {
    pub(crate) fn needs_time(self) -> bool {
        self != Self::Correctness
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Correctness => "correctness",
            Self::Speedup => "speedup",
            Self::Thresholds => "thresholds",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Threshold {
    speedup: f64,
    reward: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rewards {
    success: f64,
    wrong_answer: f64,
    /// The reward for suspicious timings; that of `wrong_answer` if absent.
    suspicious: Option<f64>,
    execute_error: f64,
    compile_failed: f64,
    unsupported: f64,
    generation_failed: f64,
}

impl Default for Rewards {
    fn default() -> Self {
        Self {
            success: 1.0,
            wrong_answer: 0.0,
            suspicious: None,
            execute_error: -0.25,
            compile_failed: -0.5,
            unsupported: -0.5,
            generation_failed: -1.0,
        }
    }
}

impl Rewards {
    pub(crate) fn of(&self, verdict: Verdict) -> f64 {
        match verdict {
            Verdict::Success => self.success,
            Verdict::WrongAnswer => self.wrong_answer,
            Verdict::Suspicious => self.suspicious.unwrap_or(self.wrong_answer),
            Verdict::ExecuteError => self.execute_error,
            Verdict::CompileFailed => self.compile_failed,
            Verdict::Unsupported => self.unsupported,
            Verdict::GenerationFailed => self.generation_failed,
        }
    }

    fn all(&self) -> [f64; 7] {
        use Verdict::{
            CompileFailed, ExecuteError, GenerationFailed, Success, Suspicious, Unsupported,
            WrongAnswer,
        };
        [
            Success,
            WrongAnswer,
            Suspicious,
            ExecuteError,
            CompileFailed,
            Unsupported,
            GenerationFailed,
        ]
        .map(|verdict| self.of(verdict))
    }
}

impl Settings {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let settings: Self = assay_plugin::settings_as(text)?;
        settings.check().map_err(Error::bad_settings)?;
        Ok(settings)
    }

    /// The reward of a right answer that is `speedup` times as fast as the baseline.
    pub(crate) fn reward_of_speedup(&self, speedup: f64) -> f64 {
        match self.policy {
            Policy::Correctness => self.rewards.success,
            Policy::Speedup => (self.speedup_scale * speedup).clamp(0.0, self.speedup_max),
            Policy::Thresholds => {
                let reached = self.thresholds.iter().rfind(|step| speedup >= step.speedup);
                reached.map_or(0.0, |step| step.reward)
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let fine = |reward: f64| reward.is_finite() && reward.abs() <= REWARD_MAX;
        if !self.rewards.all().into_iter().all(fine) {
            return Err("rewards: a reward must be -1e9 to 1e9".into());
        }
        for (name, value) in
            [("speedup_scale", self.speedup_scale), ("speedup_max", self.speedup_max)]
        {
            if !(value > 0.0 && value <= REWARD_MAX) {
                return Err(format!("{name} must be above 0 and at most 1e9"));
            }
        }
        if self.thresholds.len() > THRESHOLDS_MAX {
            return Err(format!("thresholds: at most {THRESHOLDS_MAX}"));
        }
        if (self.policy == Policy::Thresholds) == self.thresholds.is_empty() {
            return Err(
                "thresholds: they belong to the policy `thresholds`, which needs some".into()
            );
        }
        if !self.thresholds.iter().all(|step| step.speedup >= 0.0 && fine(step.reward)) {
            return Err("thresholds: a speedup of at least 0 and a reward of -1e9 to 1e9".into());
        }
        if !self.thresholds.is_sorted_by(|one, next| one.speedup < next.speedup) {
            return Err("thresholds: the speedups must ascend".into());
        }
        for (name, value, least, most) in [
            ("seeds", self.seeds, 1, 8),
            ("plan_ms", self.plan_ms, 10, 30_000),
            ("trials", self.trials, 10, 1_000),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!("{name} must be {least} to {most}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
