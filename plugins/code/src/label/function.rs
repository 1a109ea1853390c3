//! Tests that call a Python function: HumanEval's, lists of cases, lists of assertions.

use std::collections::BTreeMap;

use assay_plugin::{Error, Request};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::fault;
use crate::limits::{TestLimits, check_tests};
use crate::settings::Compare;

#[derive(Debug, Clone)]
pub(crate) struct FunctionTask {
    /// The beginning of the program, ending in the function's head and docstring.
    pub(crate) prompt: Option<String>,
    /// The function to call; if absent, the one that the assertions call.
    pub(crate) entry_point: Option<String>,
    /// Trusted code that runs before the tests, beside them.
    pub(crate) setup: String,
    pub(crate) tests: FunctionTests,
    pub(crate) limits: TestLimits,
}

#[derive(Debug, Clone)]
pub(crate) enum FunctionTests {
    /// Code that defines `check(candidate)`.
    Check(String),
    Cases {
        cases: Vec<Case>,
        tolerance: Option<(f64, f64)>,
    },
    /// Statements, one test each.
    Code(Vec<String>),
}

/// Texts of JSON, as the label has them: large numbers and the order of keys would not outlive a [`Value`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    #[serde(default)]
    args: Vec<Box<RawValue>>,
    #[serde(default = "no_arguments")]
    kwargs: Box<RawValue>,
    expected: Box<RawValue>,
}

fn no_arguments() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("JSON")
}

impl Case {
    fn check(&self) -> Result<(), Error> {
        serde_json::from_str::<BTreeMap<String, IgnoredAny>>(self.kwargs.get())
            .map(|_| ())
            .map_err(|error| fault(format!("kwargs: {error}")))
    }
}

/// As its data set has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HumanEval {
    prompt: String,
    entry_point: String,
    test: String,
    #[serde(default, rename = "task_id")]
    _task_id: Option<Value>,
    #[serde(default, rename = "canonical_solution")]
    _canonical_solution: Option<Value>,
    #[serde(default)]
    limits: TestLimits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseList {
    entry_point: String,
    cases: Vec<Case>,
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    compare: Option<Compare>,
    #[serde(default)]
    limits: TestLimits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CodeList {
    tests_code: Vec<String>,
    #[serde(default)]
    entry_point: Option<String>,
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    setup_code: String,
    #[serde(default)]
    limits: TestLimits,
}

impl FunctionTask {
    /// Reads the label of a request, which has these fields.
    pub(super) fn read(request: &Request, fields: &Map<String, Value>) -> Result<Self, Error> {
        let mut task = if fields.contains_key("test") {
            Self::from(request.label_as::<HumanEval>()?)
        } else if fields.contains_key("cases") {
            Self::of_cases(request.label_as()?)?
        } else {
            Self::from(request.label_as::<CodeList>()?)
        };
        // As data sets write it whose function is a method of LeetCode's class.
        if let Some(method) = task.entry_point.as_deref().and_then(method_of_solution) {
            task.entry_point = Some(method.to_owned());
        }
        if let Some(name) = task.entry_point.as_deref().filter(|name| !is_identifier(name)) {
            return Err(fault(format!("entry_point `{name}` is not the name of a function")));
        }
        check_tests(task.tests.count()).map_err(fault)?;
        Ok(task)
    }

    fn of_cases(list: CaseList) -> Result<Self, Error> {
        let tolerance = match list.compare {
            None | Some(Compare::Exact) => None,
            Some(compare @ Compare::Floats(tolerance)) => {
                compare.check().map_err(fault)?;
                Some((tolerance.absolute, tolerance.relative))
            }
            Some(_) => return Err(fault("compare of values must be exact or floats")),
        };
        list.cases.iter().try_for_each(Case::check)?;
        Ok(Self {
            prompt: list.prompt,
            entry_point: Some(list.entry_point),
            setup: String::new(),
            tests: FunctionTests::Cases { cases: list.cases, tolerance },
            limits: list.limits,
        })
    }
}

impl FunctionTests {
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Check(_) => 1,
            Self::Cases { cases, .. } => cases.len(),
            Self::Code(tests) => tests.len(),
        }
    }
}

impl From<HumanEval> for FunctionTask {
    fn from(row: HumanEval) -> Self {
        Self {
            prompt: Some(row.prompt),
            entry_point: Some(row.entry_point),
            setup: String::new(),
            tests: FunctionTests::Check(row.test),
            limits: row.limits,
        }
    }
}

impl From<CodeList> for FunctionTask {
    fn from(list: CodeList) -> Self {
        Self {
            prompt: list.prompt,
            entry_point: list.entry_point,
            setup: list.setup_code,
            tests: FunctionTests::Code(list.tests_code),
            limits: list.limits,
        }
    }
}

/// `f` of `Solution().f` and of `Solution.f`.
fn method_of_solution(name: &str) -> Option<&str> {
    name.strip_prefix("Solution").and_then(|rest| rest.trim_start_matches("()").strip_prefix('.'))
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    first && characters.all(|c| c.is_alphanumeric() || c == '_')
}
