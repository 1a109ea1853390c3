//! Tests of whole programs: standard input and expected standard output, a checker, an interactor.

use assay_plugin::Error;
use serde::Deserialize;
use serde_json::Value;

use super::{fault, read_as};
use crate::limits::{TestLimits, check_tests};
use crate::problem::{JudgeProgram, Protocol};
use crate::settings::Compare;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StdioTask {
    pub(crate) tests: TestSource,
    pub(crate) judging: Judging,
    pub(crate) language: Option<String>,
    pub(crate) limits: TestLimits,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TestSource {
    /// A folder in storage with pairs `NAME.in` and `NAME.ans` or `NAME.out`.
    Folder(String),
    List(Vec<InlineTest>),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InlineTest {
    pub(crate) input: String,
    /// The expected output; it may be absent if a checker or an interactor judges without it.
    #[serde(default)]
    pub(crate) output: Option<String>,
}

/// The way in which an output is judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Judging {
    /// By comparison; `None` takes the comparison of the settings.
    Compare(Option<Compare>),
    Checker(JudgeProgram),
    Interactor(JudgeProgram),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    tests: Value,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    compare: Option<Compare>,
    #[serde(default)]
    limits: TestLimits,
    #[serde(default)]
    checker: Option<Judge>,
    #[serde(default)]
    interactor: Option<Judge>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Judge {
    source: String,
    /// A language or a toolchain.
    toolchain: String,
    #[serde(default)]
    protocol: Option<Protocol>,
    /// Further files beside the source, such as `testlib.h`.
    #[serde(default)]
    files: std::collections::BTreeMap<String, String>,
}

impl Judge {
    fn into_program(self) -> JudgeProgram {
        let files = self.files.into_iter().map(|(path, text)| (path, text.into_bytes().into()));
        JudgeProgram {
            toolchain: self.toolchain,
            main: None,
            source: self.source.into_bytes().into(),
            files: files.collect(),
            protocol: self.protocol.unwrap_or(Protocol::Testlib),
            options: Vec::new(),
            args: Vec::new(),
        }
    }
}

impl StdioTask {
    pub(super) fn read(label: Value) -> Result<Self, Error> {
        let label: Label = read_as(label)?;
        let tests = match label.tests {
            Value::String(folder) => TestSource::Folder(folder),
            list => TestSource::List(read_as(list)?),
        };
        let judging = match (label.checker, label.interactor, label.compare) {
            (None, None, compare) => Judging::Compare(compare),
            (Some(checker), None, None) => Judging::Checker(checker.into_program()),
            (None, Some(interactor), None) => Judging::Interactor(interactor.into_program()),
            _ => return Err(fault("only one of checker, interactor and compare can be given")),
        };
        if let Judging::Compare(Some(compare)) = &judging {
            compare.check().map_err(fault)?;
        }
        if let TestSource::List(tests) = &tests {
            check_list(tests, matches!(judging, Judging::Compare(_)))?;
        }
        Ok(Self { tests, judging, language: label.language, limits: label.limits })
    }
}

fn check_list(tests: &[InlineTest], compared: bool) -> Result<(), Error> {
    check_tests(tests.len()).map_err(fault)?;
    match tests.iter().position(|test| compared && test.output.is_none()) {
        Some(at) => Err(fault(format!("test {} has no output to compare with", at + 1))),
        None => Ok(()),
    }
}
