//! The settings that a run may choose.

use std::collections::BTreeMap;

use assay_plugin::{Error, exec};
use serde::Deserialize;

use crate::limits::TestLimits;
use crate::verdict::Verdict;

pub(crate) const SCHEMA: &str = include_str!("schema/settings.json");

const REWARD_MAX: f64 = 1e9;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// A language or a toolchain, where the label names none; otherwise the fence decides.
    pub(crate) language: Option<String>,
    /// The toolchain for each language.
    pub(crate) toolchains: BTreeMap<String, String>,
    /// Whether a response without any fenced block is the program.
    pub(crate) unfenced: Accept,
    /// Whether a last block that never closes counts.
    pub(crate) unclosed: Accept,
    pub(crate) compare: Compare,
    pub(crate) scoring: Scoring,
    pub(crate) rewards: Rewards,
    pub(crate) limits: TestLimits,
    /// Stretches every CPU limit.
    pub(crate) time_multiplier: f64,
    /// Run again, once, what came near its CPU limit.
    pub(crate) rerun: bool,
    /// Excerpts of inputs and expected outputs in explanations.
    pub(crate) show_tests: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            language: None,
            toolchains: BTreeMap::new(),
            unfenced: Accept::Refuse,
            unclosed: Accept::Accept,
            compare: Compare::Tokens,
            scoring: Scoring::All,
            rewards: Rewards::default(),
            limits: TestLimits::default(),
            time_multiplier: 1.0,
            rerun: true,
            show_tests: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Accept {
    Accept,
    Refuse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scoring {
    /// The first failure ends it.
    All,
    /// Every test counts.
    Share,
}

/// How the host compares an output with the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Compare {
    Exact,
    TrimLines,
    Tokens,
    Floats(Tolerance),
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tolerance {
    #[serde(default)]
    pub(crate) absolute: f64,
    #[serde(default)]
    pub(crate) relative: f64,
}

impl Tolerance {
    pub(crate) fn check(&self) -> Result<(), String> {
        let fine = |value: f64| (0.0..=1.0).contains(&value);
        if fine(self.absolute) && fine(self.relative) {
            return Ok(());
        }
        Err("compare.floats: absolute and relative must be 0 to 1".into())
    }
}

impl Compare {
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Floats(tolerance) => tolerance.check(),
            _ => Ok(()),
        }
    }

    pub(crate) fn to_host(self) -> exec::Compare {
        match self {
            Self::Exact => exec::Compare::Exact,
            Self::TrimLines => exec::Compare::TrimLines,
            Self::Tokens => exec::Compare::Tokens,
            Self::Floats(Tolerance { absolute, relative }) => {
                exec::Compare::Floats(exec::Tolerance { absolute, relative })
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rewards {
    success: f64,
    wrong_answer: f64,
    time_limit: f64,
    memory_limit: f64,
    output_limit: f64,
    runtime_error: f64,
    compile_failed: f64,
    extraction_failed: f64,
}

impl Default for Rewards {
    fn default() -> Self {
        Self {
            success: 1.0,
            wrong_answer: 0.0,
            time_limit: 0.0,
            memory_limit: 0.0,
            output_limit: 0.0,
            runtime_error: 0.0,
            compile_failed: 0.0,
            extraction_failed: 0.0,
        }
    }
}

impl Rewards {
    pub(crate) fn of(&self, verdict: Verdict) -> f64 {
        match verdict {
            Verdict::Success => self.success,
            Verdict::WrongAnswer => self.wrong_answer,
            Verdict::TimeLimit => self.time_limit,
            Verdict::MemoryLimit => self.memory_limit,
            Verdict::OutputLimit => self.output_limit,
            Verdict::RuntimeError => self.runtime_error,
            Verdict::CompileFailed => self.compile_failed,
            Verdict::ExtractionFailed => self.extraction_failed,
        }
    }

    /// A share of the way from the failure's reward to that of success.
    pub(crate) fn partial(&self, verdict: Verdict, share: f64) -> f64 {
        share * self.success + (1.0 - share) * self.of(verdict)
    }

    fn check(&self) -> Result<(), String> {
        let all = [
            self.success,
            self.wrong_answer,
            self.time_limit,
            self.memory_limit,
            self.output_limit,
            self.runtime_error,
            self.compile_failed,
            self.extraction_failed,
        ];
        if all.iter().all(|reward| reward.is_finite() && reward.abs() <= REWARD_MAX) {
            return Ok(());
        }
        Err("a reward must be -1e9 to 1e9".into())
    }
}

impl Settings {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let settings: Self = assay_plugin::settings_as(text)?;
        settings.check().map_err(Error::bad_settings)?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), String> {
        self.limits.check()?;
        self.compare.check()?;
        self.rewards.check()?;
        if !(0.1..=20.0).contains(&self.time_multiplier) {
            return Err("time_multiplier must be 0.1 to 20".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_names_every_setting_and_no_other() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
        let properties = schema["properties"].as_object().expect("an object");
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        for name in &names {
            let unknown = format!(r#"{{"{name}x": 1}}"#);
            let Err(Error::BadSettings(problem)) = Settings::read(&unknown) else {
                panic!("{name}x was taken")
            };
            assert!(problem.contains(&format!("`{name}`")), "{problem}");
        }
        let defaults: serde_json::Map<_, _> = properties
            .iter()
            .filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone())))
            .collect();
        assert!(defaults.len() > 6);
        let text = serde_json::Value::Object(defaults).to_string();
        assert_eq!(Settings::read(&text).expect("the schema's defaults"), Settings::default());
    }

    #[test]
    fn nonsense_is_named() {
        let check = |text: &str, part: &str| match Settings::read(text) {
            Err(Error::BadSettings(problem)) => assert!(problem.contains(part), "{problem}"),
            other => panic!("{text}: {other:?}"),
        };
        check(r#"{"limits": {"cpu_ms": 0}}"#, "limits.cpu_ms must be 1 to 60000");
        check(r#"{"limits": {"cpu": 1}}"#, "unknown field `cpu`");
        check(r#"{"compare": {"floats": {"absolute": -1}}}"#, "0 to 1");
        check(r#"{"compare": "fuzzy"}"#, "fuzzy");
        check(r#"{"rewards": {"success": 1e300}}"#, "-1e9 to 1e9");
        check(r#"{"time_multiplier": 0}"#, "time_multiplier");
        check(r#"{"scoring": "some"}"#, "some");
        check("[]", "object");
    }

    #[test]
    fn partial_credit_lies_between_failure_and_success() {
        let rewards = Rewards { success: 1.0, wrong_answer: -1.0, ..Rewards::default() };
        assert_eq!(rewards.partial(Verdict::WrongAnswer, 0.0), -1.0);
        assert_eq!(rewards.partial(Verdict::WrongAnswer, 0.75), 0.5);
    }
}
