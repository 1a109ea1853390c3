//! The content of a compiled program: a binary or files, and the data that is needed to run them.
//!
//! A file on disk is the SHA-256 of the rest, the length of the header, the header, and the bytes of all files in
//! order. A file that does not match its hash is ignored.

use std::io;
use std::os::fd::OwnedFd;

use assay_core::id::Digest;
use serde::{Deserialize, Serialize};

use super::sealed::sealed;
use crate::outcome::Captured;

const HASH_BYTES: usize = 32;

/// A program as it comes from the compiler, or from the caller if nothing is compiled.
pub(crate) struct ArtifactContent<'a> {
    pub toolchain: &'a str,
    pub main: &'a str,
    /// The compiler's standard error.
    pub log: &'a Captured,
    pub binary: bool,
    /// Paths and bytes; one file if it is a binary.
    pub files: Vec<(&'a str, &'a [u8])>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    toolchain: String,
    main: String,
    log: Captured,
    binary: bool,
    files: Vec<(String, u64)>,
}

/// A program that is ready for a box.
#[derive(Debug)]
pub(crate) struct LoadedProgram {
    pub toolchain: String,
    pub main: String,
    pub log: Captured,
    pub program: ProgramContent,
    pub size_bytes: u64,
}

#[derive(Debug)]
pub(crate) enum ProgramContent {
    Binary(OwnedFd),
    Files(Vec<(String, Vec<u8>)>),
}

impl ArtifactContent<'_> {
    pub fn encode(&self) -> Vec<u8> {
        let header = Header {
            toolchain: self.toolchain.to_owned(),
            main: self.main.to_owned(),
            log: self.log.clone(),
            binary: self.binary,
            files: self
                .files
                .iter()
                .map(|(path, bytes)| ((*path).to_owned(), bytes.len() as u64))
                .collect(),
        };
        let header = postcard::to_stdvec(&header).expect("plain data can be written");
        let mut encoded = vec![0; HASH_BYTES];
        encoded.extend_from_slice(&(header.len() as u64).to_le_bytes());
        encoded.extend_from_slice(&header);
        for (_, bytes) in &self.files {
            encoded.extend_from_slice(bytes);
        }
        let hash = Digest::of(&encoded[HASH_BYTES..]);
        encoded[..HASH_BYTES].copy_from_slice(&hash.0);
        encoded
    }
}

impl LoadedProgram {
    /// `None` where the bytes are damaged.
    pub fn decode(encoded: &[u8]) -> Option<io::Result<Self>> {
        let (hash, rest) = encoded.split_at_checked(HASH_BYTES)?;
        if Digest::of(rest).0 != hash {
            return None;
        }
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (header, mut rest) = rest.split_at_checked(length)?;
        let header: Header = postcard::from_bytes(header).ok()?;
        let mut files = Vec::with_capacity(header.files.len());
        for (path, length) in header.files {
            let (bytes, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            files.push((path, bytes));
            rest = after;
        }
        let size_bytes = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let program = if header.binary {
            let [(_, bytes)] = files.as_slice() else { return None };
            sealed(bytes).map(ProgramContent::Binary)
        } else {
            Ok(ProgramContent::Files(
                files.into_iter().map(|(path, bytes)| (path, bytes.to_vec())).collect(),
            ))
        };
        Some(program.map(|program| Self {
            toolchain: header.toolchain,
            main: header.main,
            log: header.log,
            program,
            size_bytes,
        }))
    }
}
