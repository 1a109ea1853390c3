//! The description that a plugin gives of itself, and the names that operators and tenants give to it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;

/// The name of a version of a plugin, written `math@1.0.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionName<'a> {
    /// The name of the plugin.
    pub name: &'a str,
    /// The version.
    pub version: &'a str,
}

impl<'a> VersionName<'a> {
    /// The parts of a text, if it has both. Whether each is well formed is not checked.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (name, version) = text.split_once('@')?;
        Some(Self { name, version })
    }
}

impl fmt::Display for VersionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

/// One stage of a plugin: `stage` of `assay:reward/types`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// The name of the stage; unique in its plugin.
    pub name: String,
    /// The kind of worker it runs on: `cpu`, `gpu`, or an operator's own.
    pub pool: String,
    /// The time limit of one run, in milliseconds.
    pub timeout_ms: u32,
    /// The memory limit of one run, in bytes.
    pub memory_bytes_max: u64,
    /// The number of retries after a failure that may pass.
    pub retries_max: u32,
}

/// The result of a plugin's `describe`: the record `description` of `assay:reward/types`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The name of the plugin.
    pub name: String,
    /// The version; it begins with a digit, which tells it from a channel.
    pub version: String,
    /// A sentence for people.
    pub summary: String,
    /// The stages, in the order in which they run.
    pub stages: Vec<Stage>,
    /// JSON schema, as text; empty when there is none.
    pub settings_schema: String,
    /// JSON schema of labels, as text; empty when there is none.
    pub label_schema: String,
    /// The reward of a request whose stage ran into its timeout.
    pub timeout_reward: f64,
    /// Whether equal requests get equal outcomes.
    pub deterministic: bool,
}

impl Description {
    /// The name of this version.
    #[must_use]
    pub fn version_name(&self) -> VersionName<'_> {
        VersionName { name: &self.name, version: &self.version }
    }

    /// Checks every limit and rule of a description; the error names the field and what to do.
    pub fn check(&self) -> Result<(), String> {
        check_name("name", &self.name, limits::PLUGIN_NAME_BYTES_MAX)?;
        check_version(&self.version)?;
        check_length("summary", &self.summary, limits::SUMMARY_BYTES_MAX)?;
        check_schema("settings-schema", &self.settings_schema)?;
        check_schema("label-schema", &self.label_schema)?;
        if !self.timeout_reward.is_finite() {
            return Err("timeout-reward must be a finite number".into());
        }
        let count = self.stages.len();
        if count == 0 || count > limits::STAGES_MAX {
            return Err(format!("a plugin has 1 to {} stages, not {count}", limits::STAGES_MAX));
        }
        for (at, stage) in self.stages.iter().enumerate() {
            stage.check()?;
            if self.stages[..at].iter().any(|other| other.name == stage.name) {
                return Err(format!("two stages are called `{}`", stage.name));
            }
        }
        Ok(())
    }
}

impl Stage {
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        check_name("stage name", name, limits::PLUGIN_NAME_BYTES_MAX)?;
        check_name("pool", &self.pool, limits::PLUGIN_NAME_BYTES_MAX)?;
        in_range(
            name,
            "timeout-ms",
            u64::from(self.timeout_ms),
            1,
            u64::from(limits::STAGE_TIMEOUT_MS_MAX),
        )?;
        in_range(
            name,
            "memory-bytes-max",
            self.memory_bytes_max,
            1 << 16,
            limits::STAGE_MEMORY_BYTES_MAX,
        )?;
        in_range(
            name,
            "retries-max",
            u64::from(self.retries_max),
            0,
            u64::from(limits::STAGE_RETRIES_MAX),
        )
    }
}

fn in_range(stage: &str, what: &str, value: u64, min: u64, max: u64) -> Result<(), String> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(format!("stage `{stage}`: {what} must be {min} to {max}, not {value}"))
}

fn check_length(what: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    if text.len() <= bytes_max {
        return Ok(());
    }
    Err(format!("{what} has {} bytes, the limit is {bytes_max}", text.len()))
}

fn check_schema(what: &str, text: &str) -> Result<(), String> {
    check_length(what, text, limits::SCHEMA_BYTES_MAX)?;
    if text.is_empty() {
        return Ok(());
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(_) | serde_json::Value::Bool(_)) => Ok(()),
        Ok(_) => Err(format!("{what} must be a JSON object")),
        Err(error) => Err(format!("{what} is not JSON: {error}")),
    }
}

/// Names of plugins, stages, pools, channels and tenants: lower-case letters, digits, `-`, `_`.
pub fn check_name(what: &str, name: &str, bytes_max: usize) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || name.len() > bytes_max || !name.chars().all(plain) {
        let shown: String = name.chars().take(80).collect();
        return Err(format!(
            "{what} `{shown}` must be 1 to {bytes_max} lower-case letters, digits, `-` or `_`"
        ));
    }
    Ok(())
}

/// Versions: letters, digits, `.`, `-`, `+`, starting with a digit, so that none is a channel.
pub fn check_version(version: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    let starts = version.starts_with(|c: char| c.is_ascii_digit());
    if !starts || version.len() > limits::VERSION_BYTES_MAX || !version.chars().all(plain) {
        let shown: String = version.chars().take(80).collect();
        return Err(format!(
            "version `{shown}` must start with a digit and have at most {} letters, digits, `.`, `-`, `+`",
            limits::VERSION_BYTES_MAX
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description() -> Description {
        let stage = Stage {
            name: "score".into(),
            pool: "cpu".into(),
            timeout_ms: 1_000,
            memory_bytes_max: 64 << 20,
            retries_max: 0,
        };
        Description {
            name: "math".into(),
            version: "1.0.0".into(),
            summary: String::new(),
            stages: vec![stage],
            settings_schema: String::new(),
            label_schema: "{}".into(),
            timeout_reward: 0.0,
            deterministic: true,
        }
    }

    fn refused(change: impl FnOnce(&mut Description)) -> String {
        let mut description = description();
        change(&mut description);
        description.check().expect_err("must be refused")
    }

    #[test]
    fn the_name_of_a_version_is_read_as_it_is_written() {
        let description = description();
        let name = description.version_name();
        assert_eq!(VersionName::parse(&name.to_string()), Some(name));
        assert_eq!(VersionName::parse("math"), None);
    }

    #[test]
    fn a_plain_description_is_accepted() {
        assert_eq!(description().check(), Ok(()));
    }

    #[test]
    fn each_rule_names_what_is_wrong() {
        assert!(refused(|d| d.name = "Math!".into()).contains("`Math!`"));
        assert!(refused(|d| d.version = "prod".into()).contains("start with a digit"));
        assert!(refused(|d| d.stages.clear()).contains("1 to 16 stages"));
        assert!(refused(|d| d.stages.push(d.stages[0].clone())).contains("two stages"));
        assert!(refused(|d| d.stages[0].timeout_ms = 0).contains("timeout-ms"));
        assert!(refused(|d| d.stages[0].memory_bytes_max = u64::MAX).contains("memory-bytes-max"));
        assert!(refused(|d| d.timeout_reward = f64::NAN).contains("finite"));
        assert!(refused(|d| d.label_schema = "{".into()).contains("not JSON"));
    }
}
