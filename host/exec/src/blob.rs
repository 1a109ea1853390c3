//! Bytes for a box: given directly, or by the digest of a stored object.

use std::borrow::Cow;

use assay_core::id::Digest;
use sha2::{Digest as _, Sha256};

use crate::exec::ExecError;
use crate::object_cache::ObjectCache;

/// Bytes for a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blob {
    /// The bytes.
    Inline(Vec<u8>),
    /// The digest of an object in the worker's object cache.
    Stored(Digest),
}

/// A file of a source, or one beside a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path relative to the working folder.
    pub path: String,
    /// The bytes.
    pub content: Blob,
}

impl Blob {
    /// The SHA-256 of the bytes; does not read a stored object.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Inline(bytes) => sha256(bytes),
            Self::Stored(digest) => *digest,
        }
    }

    pub(crate) fn bytes(&self, objects: &ObjectCache) -> Result<Cow<'_, [u8]>, ExecError> {
        match self {
            Self::Inline(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Stored(digest) => objects
                .get(*digest)
                .map(Cow::Owned)
                .ok_or_else(|| ExecError::MissingBlob(digest.to_string())),
        }
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}
