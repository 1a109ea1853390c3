//! The words for what happened to a response, and the ways in which a stage stops.

use assay_plugin::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Success,
    WrongAnswer,
    /// Right, and something about its times is not: they are worth nothing.
    Suspicious,
    ExecuteError,
    CompileFailed,
    /// Perhaps right, but not in a form that can be judged here.
    Unsupported,
    GenerationFailed,
}

impl Verdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::WrongAnswer => "wrong_answer",
            Self::Suspicious => "suspicious",
            Self::ExecuteError => "execute_error",
            Self::CompileFailed => "compile_failed",
            Self::Unsupported => "unsupported",
            Self::GenerationFailed => "generation_failed",
        }
    }
}

/// Why a response is no success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
}

impl Failure {
    pub(crate) fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into() }
    }
}

/// A reason to end a stage early.
#[derive(Debug, PartialEq)]
pub(crate) enum Stop {
    /// The response's fault: it gets a reward.
    Failed(Failure),
    /// Another side's fault: there is no reward.
    Error(Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The beginning of a text, with a mark where something was left out.
pub(crate) fn beginning(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes_max);
    format!("{}…", &text[..end])
}
