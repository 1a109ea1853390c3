//! A program's output, read without waiting; the beginning is kept.

use std::fs::File;
use std::io::{ErrorKind, Read, Result};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe2;

use crate::outcome::Captured;
use crate::sys;

/// The most bytes that one turn reads, so that a stream does not hold up the others.
const TURN_BYTES: usize = 1 << 20;
const READ_BYTES: usize = 64 << 10;

#[derive(Default)]
pub(super) struct Stream {
    /// The reading end of the pipe; `None` once everything was read.
    end: Option<File>,
    kept: Vec<u8>,
    bytes_max: usize,
    over: bool,
}

impl Stream {
    /// A stream and the pipe's end for the program.
    pub(super) fn new(bytes_max: u64) -> Result<(Self, OwnedFd)> {
        let (ours, theirs) = pipe2(OFlag::O_CLOEXEC)?;
        fcntl(&ours, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        let stream = Self { end: Some(File::from(ours)), kept: Vec::new(), bytes_max, over: false };
        Ok((stream, theirs))
    }

    pub(super) fn open(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().map(|end| end.as_fd())
    }

    /// Whether the program wrote more than is kept.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Reads what is there, one turn's bytes at most; with `all`, to the end.
    pub(super) fn read(&mut self, all: bool) -> Result<()> {
        let mut buffer = [0; READ_BYTES];
        let mut taken = 0;
        while let Some(end) = &mut self.end {
            if taken >= TURN_BYTES && !all {
                break;
            }
            match end.read(&mut buffer) {
                Ok(0) => self.end = None,
                Ok(count) => {
                    taken += count;
                    self.add(&buffer[..count]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = self.bytes_max - self.kept.len();
        self.over |= bytes.len() > room;
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(super) fn into_captured(self) -> Captured {
        Captured { data: self.kept, truncated: self.over }
    }
}

/// The beginning of a regular file; `None` for anything else. The check is made on the open file, which
/// nobody can exchange.
pub(super) fn read_file(file: OwnedFd, bytes_max: u64) -> Result<Option<Captured>> {
    if !sys::is_regular(&file)? {
        return Ok(None);
    }
    let mut data = Vec::new();
    File::from(file).take(bytes_max + 1).read_to_end(&mut data)?;
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let truncated = data.len() > bytes_max;
    data.truncate(bytes_max);
    Ok(Some(Captured { data, truncated }))
}
