//! Bytes on their way into a box: given in place, or named by their content.

use std::borrow::Cow;

use assay_model::id::Digest;
use sha2::{Digest as _, Sha256};

use crate::cache::Cache;
use crate::exec::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blob {
    Inline(Vec<u8>),
    /// An object that lies in the worker's cache of objects.
    Stored(Digest),
}

/// A file of a source, or one that is placed beside a program. Its path is relative to the working
/// folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub path: String,
    pub content: Blob,
}

impl Blob {
    /// The SHA-256 of the bytes, which need not be there.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Inline(bytes) => sha256(bytes),
            Self::Stored(digest) => *digest,
        }
    }

    pub(crate) fn bytes(&self, objects: &Cache) -> Result<Cow<'_, [u8]>, Error> {
        match self {
            Self::Inline(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Stored(digest) => objects
                .get(*digest)
                .map(Cow::Owned)
                .ok_or_else(|| Error::MissingBlob(digest.to_string())),
        }
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}
