//! Failures of the machine or of the caller; the end of a program is none of them.

/// A failure that says nothing about the program: none of these is a verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// This machine has no such toolchain.
    #[error("no such toolchain: {0}")]
    UnknownToolchain(String),
    /// It was never here, was removed from the cache, or is another tenant's. The caller compiles again.
    #[error("no such artifact: {0}")]
    UnknownArtifact(String),
    /// A stored blob is not in the object cache.
    #[error("no such object: {0}")]
    MissingBlob(String),
    /// The caller's request is invalid.
    #[error("bad request: {0}")]
    BadRequest(String),
    /// The deadline passed.
    #[error("the stage's time is over")]
    Cancelled,
    /// The machine cannot run programs now.
    #[error("programs cannot be run: {0}")]
    Unavailable(String),
}
