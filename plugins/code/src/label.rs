//! The label of a request. Each form has its own keys; an unknown key is a bad request.

mod function;
mod stdio;

use assay_plugin::{Error, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::limits::TestLimits;
pub(crate) use function::{Case, FunctionTask, FunctionTests};
pub(crate) use stdio::{Judging, StdioTask, TestSource};

pub(crate) const SCHEMA: &str = include_str!("schema/label.json");

#[derive(Debug, Clone)]
pub(crate) enum Task {
    Stdio(StdioTask),
    Function(FunctionTask),
    Package(PackageTask),
}

/// A package in storage.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackageTask {
    /// The folder: `root/path`.
    pub(crate) problem: String,
    pub(crate) format: PackageFormat,
    #[serde(default)]
    pub(crate) language: Option<String>,
    /// Instead of the package's own.
    #[serde(default)]
    pub(crate) limits: TestLimits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PackageFormat {
    Kattis,
    Dmoj,
}

impl Task {
    pub(crate) fn read(request: &Request) -> Result<Self, Error> {
        let label: Value = request.label_as()?;
        let Value::Object(fields) = &label else {
            return Err(Error::bad_request("label: an object is needed, see the README"));
        };
        let task = if fields.contains_key("problem") {
            Self::Package(read_as(label)?)
        } else if fields.contains_key("tests") {
            Self::Stdio(StdioTask::read(label)?)
        } else if ["test", "cases", "tests_code"].iter().any(|key| fields.contains_key(*key)) {
            Self::Function(FunctionTask::read(request, fields)?)
        } else {
            return Err(Error::bad_request(
                "label: one of `tests`, `test`, `cases`, `tests_code` and `problem` is needed",
            ));
        };
        task.limits().check().map_err(fault)?;
        Ok(task)
    }

    pub(crate) fn limits(&self) -> &TestLimits {
        match self {
            Self::Stdio(task) => &task.limits,
            Self::Function(task) => &task.limits,
            Self::Package(task) => &task.limits,
        }
    }

    /// The language the response must be in, where the task says so.
    pub(crate) fn language(&self) -> Option<&str> {
        match self {
            Self::Stdio(task) => task.language.as_deref(),
            Self::Function(_) => Some("python"),
            Self::Package(task) => task.language.as_deref(),
        }
    }

    /// The prompt that the response may continue, and the function that it begins.
    pub(crate) fn completes(&self) -> Option<(&str, &str)> {
        match self {
            Self::Function(FunctionTask {
                prompt: Some(prompt), entry_point: Some(name), ..
            }) => Some((prompt, name)),
            _ => None,
        }
    }
}

fn read_as<T: DeserializeOwned>(label: Value) -> Result<T, Error> {
    serde_json::from_value(label).map_err(fault)
}

fn fault(problem: impl std::fmt::Display) -> Error {
    Error::bad_request(format!("label: {problem}"))
}

#[cfg(test)]
mod tests;
