//! The text that kernels print. The driver writes it to the process's standard output, from within its own calls;
//! a thread takes it from there at once, so that nothing printed is ever waited for, and keeps the
//! beginning.

use std::io::{Read as _, Result};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use parking_lot::Mutex;

use crate::device::DeviceProblem;

const READ_BYTES: usize = 16 << 10;

pub(crate) struct Printed {
    shared: Arc<SharedText>,
}

struct SharedText {
    pipe: std::io::PipeReader,
    kept: Mutex<KeptText>,
}

#[derive(Default)]
struct KeptText {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Printed {
    /// Takes over standard output.
    pub(crate) fn capture() -> Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        nix::unistd::dup2_stdout(&writer)?;
        Self::from_pipe(reader)
    }

    fn from_pipe(pipe: std::io::PipeReader) -> Result<Self> {
        let shared = Arc::new(SharedText { pipe, kept: Mutex::default() });
        let drained = Arc::clone(&shared);
        std::thread::Builder::new().name("printed".into()).spawn(move || drained.drain())?;
        Ok(Self { shared })
    }

    /// Forgets what was printed, and keeps so many bytes of what comes.
    pub(crate) fn keep(&self, bytes_max: usize) {
        *self.shared.kept.lock() = KeptText { bytes: Vec::new(), bytes_max };
    }

    /// All that was printed until now.
    pub(crate) fn so_far(&self) -> std::result::Result<Vec<u8>, DeviceProblem> {
        flush();
        loop {
            let kept = self.shared.kept.lock();
            let readable = is_readable(self.shared.pipe.as_fd(), PollTimeout::ZERO);
            if !readable
                .map_err(|error| DeviceProblem::Failed(format!("standard output: {error}")))?
            {
                return Ok(kept.bytes.clone());
            }
            drop(kept);
            std::thread::yield_now();
        }
    }
}

impl SharedText {
    /// Reads under the lock: whoever holds it and finds the pipe empty has seen everything.
    fn drain(&self) {
        let mut bytes = [0; READ_BYTES];
        while is_readable(self.pipe.as_fd(), PollTimeout::NONE).is_ok() {
            let mut kept = self.kept.lock();
            match (&self.pipe).read(&mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    let room = kept.bytes_max - kept.bytes.len();
                    kept.bytes.extend(&bytes[..count.min(room)]);
                }
            }
        }
    }
}

fn is_readable(pipe: BorrowedFd<'_>, timeout: PollTimeout) -> nix::Result<bool> {
    let mut polled = [PollFd::new(pipe, PollFlags::POLLIN)];
    loop {
        match poll(&mut polled, timeout) {
            Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) => {
                let seen = polled[0].revents();
                return Ok(seen.is_some_and(|seen| seen.contains(PollFlags::POLLIN)));
            }
        }
    }
}

/// The C library keeps what is printed in a buffer of its own.
#[expect(unsafe_code, reason = "the C library's streams are flushed by a call alone")]
fn flush() {
    // SAFETY: a null pointer means all streams; nothing is handed over.
    unsafe { nix::libc::fflush(std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests;
