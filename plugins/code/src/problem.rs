//! A problem with tests of whole programs, whatever form it came in.

use assay_plugin::{Error, exec};
use serde::Deserialize;

use crate::compare::Comparison;
use crate::limits::TestLimits;
use crate::machine::Objects;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub(crate) groups: Vec<Group>,
    /// Tests name theirs by position.
    pub(crate) judges: Vec<Judge>,
    pub(crate) limits: TestLimits,
}

/// Tests that earn their points together or not at all.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub(crate) points: f64,
    pub(crate) tests: Vec<Test>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Test {
    /// The test's name as its author gave it: `secret/03`.
    pub(crate) name: String,
    pub(crate) input: Data,
    pub(crate) answer: Data,
    pub(crate) judge: usize,
    /// Further arguments of the judge's program.
    pub(crate) args: Vec<String>,
}

/// Bytes that are here, or those of an object in storage, which the plugin need not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Data {
    Inline(Vec<u8>),
    Object(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Judge {
    Compare(Comparison),
    Checker(JudgeProgram),
    Interactor(JudgeProgram),
}

/// A program that judges others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgeProgram {
    /// A language or a toolchain.
    pub(crate) toolchain: String,
    /// The file name of the source; `None` takes the toolchain's own name.
    pub(crate) main: Option<String>,
    pub(crate) source: Data,
    pub(crate) files: Vec<(String, Data)>,
    pub(crate) protocol: Protocol,
    /// The compiler's options.
    pub(crate) options: Vec<String>,
    /// The judge's own arguments, before those of the protocol.
    pub(crate) args: Vec<String>,
}

/// How a judge's program is called and how it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Protocol {
    /// Arguments `input output answer`; 0 is accepted, 1 and 2 are wrong.
    Testlib,
    /// Arguments `input answer feedback-folder`; 42 is accepted, 43 is wrong.
    Kattis,
    /// DMOJ's own, of a checker: arguments `input output answer`; 0 is accepted, 1 is wrong.
    #[serde(skip)]
    DmojChecker,
    /// DMOJ's own, of an interactor: arguments `input answer`; answers as [`Protocol::DmojChecker`] does.
    #[serde(skip)]
    DmojInteractor,
    /// No arguments of its own; answers as [`Protocol::Kattis`] does.
    #[serde(skip)]
    Harness,
}

impl Protocol {
    pub(crate) fn args(self) -> &'static [&'static str] {
        match self {
            Self::Testlib | Self::DmojChecker => &["input", "output", "answer"],
            Self::DmojInteractor => &["input", "answer"],
            Self::Kattis => &["input", "answer", "feedback/"],
            Self::Harness => &[],
        }
    }

    /// The exit status for a judge that only knows that the answer is wrong.
    pub(crate) fn wrong(self) -> i32 {
        match self {
            Self::Testlib | Self::DmojChecker | Self::DmojInteractor => 1,
            Self::Kattis | Self::Harness => 43,
        }
    }

    /// Whether the exit status means accepted or wrong; `None` for any other.
    pub(crate) fn accepts(self, status: i32) -> Option<bool> {
        match (self, status) {
            (Self::Testlib | Self::DmojChecker | Self::DmojInteractor, 0)
            | (Self::Kattis | Self::Harness, 42) => Some(true),
            (Self::Testlib | Self::DmojChecker | Self::DmojInteractor, 1)
            | (Self::Testlib, 2)
            | (Self::Kattis | Self::Harness, 43) => Some(false),
            _ => None,
        }
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Inline(bytes)
    }
}

impl Data {
    /// The data for the host; an object stays in storage.
    pub(crate) fn to_blob(&self, objects: &impl Objects) -> Result<exec::Blob, Error> {
        Ok(match self {
            Self::Inline(bytes) => exec::Blob::Inline(bytes.clone()),
            Self::Object(name) => exec::Blob::Stored(objects.locate(name)?),
        })
    }

    /// The data for the plugin itself.
    pub(crate) fn read(&self, objects: &impl Objects) -> Result<Vec<u8>, Error> {
        Ok(match self {
            Self::Inline(bytes) => bytes.clone(),
            Self::Object(name) => objects.get(name)?,
        })
    }
}

impl Problem {
    pub(crate) fn tests(&self) -> usize {
        self.groups.iter().map(|group| group.tests.len()).sum()
    }
}
