//! Bytes for a box: given directly, or by the digest of a stored object.

use std::borrow::Cow;

use assay_core::id::Digest;

use crate::error::ExecError;
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

/// A program's source, with the toolchain that compiles or runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSource {
    /// The toolchain's id.
    pub toolchain: String,
    /// All files of the source.
    pub files: Vec<SourceFile>,
    /// The path of the file that is compiled or run.
    pub main: String,
    /// Options for the compiler, in addition to the toolchain's.
    pub options: Vec<String>,
}

impl Blob {
    /// The SHA-256 of the bytes; does not read a stored object.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Inline(bytes) => Digest::of(bytes),
            Self::Stored(digest) => *digest,
        }
    }

    /// The number of bytes; 0 for an object that is not there.
    pub(crate) fn size(&self, objects: &ObjectCache) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Stored(digest) => objects.size(*digest).unwrap_or(0),
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
