//! Programs nobody trusts, run by the host in boxes of their own: the capability `assay:exec/exec`.
//!
//! ```no_run
//! use assay_plugin::exec;
//!
//! let source = exec::Source {
//!     toolchain: "cpp17-gcc".into(),
//!     files: vec![exec::File::text("main.cpp", "int main() { return 0; }")],
//!     main: "main.cpp".into(),
//!     options: vec![],
//! };
//! match exec::compile(&source, None)?.compiled {
//!     exec::Compiled::Ok(program) => assert_eq!(program.toolchain(), "cpp17-gcc"),
//!     exec::Compiled::Rejected(outcome) => panic!("{}", outcome.stderr.to_text()),
//! }
//! # Ok::<(), assay_plugin::Error>(())
//! ```
//!
//! Only a component has a host to call: in a native test these functions panic.

pub use crate::bindings::assay::exec::exec::{
    Artifact, Batch, CaseResult, Compare, CompileResult, Compiled, Dialogue, Expectation, Judging,
    Matched, Party, Source, StopAt, TestCase, Tolerance, Toolchain, check, compile, interact, run,
    toolchains,
};
pub use crate::bindings::assay::exec::types::{
    Blob, Captured, Ending, Error, File, LimitKind, Limits, Outcome, Usage,
};

use crate::Error as PluginError;

impl File {
    #[must_use]
    pub fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), content: Blob::text(text) }
    }
}

impl Blob {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Inline(text.into().into_bytes())
    }
}

impl Captured {
    /// The kept bytes as text, with U+FFFD in place of bytes that are not valid UTF-8.
    #[must_use]
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.data).into_owned()
    }
}

/// A fault of the platform's stays one, so that the host tries again.
impl From<Error> for PluginError {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable(problem) => Self::Unavailable(problem),
            Error::Cancelled => Self::Unavailable("the stage's time is over".into()),
            Error::UnknownToolchain(id) => {
                Self::BadRequest(format!("there is no toolchain `{id}` here"))
            }
            Error::UnknownArtifact(key) => {
                Self::Unavailable(format!("the program {key} is not here any more"))
            }
            Error::MissingBlob(digest) => {
                Self::Unavailable(format!("the object {digest} is not here any more"))
            }
            Error::BadRequest(problem) => Self::Internal(problem),
        }
    }
}
