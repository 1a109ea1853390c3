//! The errors of calls, with texts that say what to do.

use std::fmt;

use assay_api::problem::Problem;
use assay_core::cause::deepest;

/// A call that did not succeed. Its text is for a person.
#[derive(Debug)]
pub enum Error {
    /// The server understood the call and refused it; branch on `code`.
    Problem(Box<Problem>),
    /// No answer: the server is not running, cannot be reached, or the connection broke too often.
    Unreachable { url: String, reason: String },
    /// An answer that does not come from an Assay server of this version.
    Unexpected { url: String, reason: String },
    /// The address or the key is missing or invalid.
    NotConfigured { reason: String },
}

impl Error {
    /// The problem's stable code, when the server gave one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Problem(problem) => Some(&problem.code),
            _ => None,
        }
    }

    pub(crate) fn unexpected(url: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self::Unexpected { url: url.to_string(), reason: reason.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) => write_problem(f, problem),
            Self::Unreachable { url, reason } => write!(
                f,
                "cannot reach the Assay server at {url}: {reason}. Check that it runs \
                 (`assay dev` starts one) and that ASSAY_URL is its address"
            ),
            Self::Unexpected { url, reason } => write!(
                f,
                "{url} gave an unexpected answer: {reason}. Check that ASSAY_URL is the address of an Assay \
                 server and that its version fits this client"
            ),
            Self::NotConfigured { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

fn write_problem(f: &mut fmt::Formatter<'_>, problem: &Problem) -> fmt::Result {
    let text = if problem.detail.is_empty() { &problem.title } else { &problem.detail };
    write!(f, "{text} ({}, HTTP {})", problem.code, problem.status)?;
    if let Some(hint) = &problem.hint {
        write!(f, ". {hint}")?;
    }
    if let Some(request_id) = &problem.request_id {
        write!(f, " [Request-Id {request_id}]")?;
    }
    Ok(())
}

/// The innermost reason of an HTTP client's error: the outer ones only repeat the address.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    deepest(error).to_string()
}
