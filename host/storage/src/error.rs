//! Errors of reads: one type with texts for the plugin's author, one with texts for the operator.

use std::time::Duration;

use assay_core::limits;

pub(crate) const WAIT_MAX: Duration = Duration::from_secs(limits::OBJECT_WAIT_SECONDS_MAX);

/// The reason why an object or a listing cannot be read; the text is for the plugin's author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    #[error("there is no storage root `{0}`, or it was not granted to your tenant")]
    Denied(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("the storage root `{0}` cannot be read just now")]
    Unavailable(String),
}

/// The reason why a read failed, before the object's name is added.
#[derive(Debug)]
pub(crate) enum ReadError {
    NotFound,
    TooLarge(u64),
    TooMany,
    /// The text is for the operator and holds no secrets.
    Unavailable(String),
}

pub(crate) fn silent() -> ReadError {
    ReadError::Unavailable(format!("no answer within {} s", WAIT_MAX.as_secs()))
}
