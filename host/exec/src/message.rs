//! Messages on the sockets between worker, zygote and init: bytes and descriptors, complete or not at all. A
//! message that is too long for a datagram travels as a file in memory.

use std::fs::File;
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Read as _, Result, Seek as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::cmsg_space;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::job::{Party, Purpose};
use crate::limits::BoxLimits;
use crate::outcome::{Captured, ProgramEnding, Usage};
use crate::support::{BoxSupport, Refusal};

/// The most bytes in a datagram, in addition to the first byte, which says where the message is.
const INLINE_BYTES_MAX: usize = 64 << 10;
/// The most bytes of a message; a longer one can only come from a broken peer.
const MESSAGE_BYTES_MAX: u64 = 4 << 30;
/// The most descriptors in one message.
pub(crate) const DESCRIPTORS_MAX: usize = 64;

const INLINE: u8 = 0;
const IN_FILE: u8 = 1;

/// The helper's first message: it is ready, or it refuses.
pub(crate) type Hello = std::result::Result<BoxSupport, Refusal>;

/// The worker's request: one job, or the two of a dialogue. The descriptors of each job are its standard input,
/// its files one after the other in one file, and its program if that is a sealed file.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunRequest {
    pub(crate) jobs: Vec<JobMessage>,
    /// The time until the deadline, in milliseconds.
    pub(crate) deadline_ms: u64,
    /// The time until the latest deadline of boxes that are kept waiting for a core, in milliseconds.
    pub(crate) latest_ms: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct JobMessage {
    pub(crate) purpose: Purpose,
    /// The program's path; `None` if it is the sealed file.
    pub(crate) path: Option<String>,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) files: Vec<FileMessage>,
    pub(crate) collect: Vec<String>,
    pub(crate) limits: BoxLimits,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct FileMessage {
    pub(crate) path: String,
    pub(crate) executable: bool,
    pub(crate) size_bytes: u64,
}

/// An init's report of how its program ended. The descriptors are the collected files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum InitReport {
    Ended {
        /// The status that `wait` returned.
        status: i32,
        /// The CPU time of the init itself, in microseconds.
        init_cpu_us: u64,
        /// The time of the end, by the machine's monotonic clock.
        ended_at: Duration,
    },
    /// The kernel does not execute the program; the program's fault.
    NotExecuted { problem: String },
    /// The kernel does not execute a program of this machine, such as a compiler; our fault.
    NoProgram { problem: String },
    /// The box could not be prepared, or its files not be opened; our fault.
    NotMade { problem: String },
}

/// The answer to a request.
#[derive(Serialize, Deserialize)]
pub(crate) enum RunReply {
    Ended {
        boxes: Vec<BoxReport>,
        first_to_end: Party,
    },
    /// The request's deadline came first.
    Deadline {
        /// The longest time for which a box was ready and did not run, in microseconds.
        wait_us: u64,
    },
    /// Says nothing about a program of the request.
    Failed(BoxFailure),
}

/// Why there is no report of a box.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum BoxFailure {
    /// This machine lacks the program that was to run in it.
    NoProgram(String),
    /// It could not be made or watched.
    Failed(String),
}

impl<T: Into<String>> From<T> for BoxFailure {
    fn from(problem: T) -> Self {
        Self::Failed(problem.into())
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct BoxReport {
    pub(crate) ending: ProgramEnding,
    pub(crate) usage: Usage,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) files: Vec<(String, Captured)>,
}

pub(crate) fn send(
    socket: impl AsFd,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> Result<()> {
    let mut bytes = vec![INLINE];
    bytes = postcard::to_extend(message, bytes).map_err(Error::other)?;
    let mut raw: Vec<RawFd> = descriptors.iter().map(|fd| fd.as_raw_fd()).collect();
    let file;
    if bytes.len() > INLINE_BYTES_MAX {
        file = memory_file_with([&bytes[1..]])?;
        raw.insert(0, file.as_raw_fd());
        bytes.truncate(1);
        bytes[0] = IN_FILE;
    }
    let rights = [ControlMessage::ScmRights(&raw)];
    let rights = if raw.is_empty() { &rights[..0] } else { &rights[..] };
    let socket = socket.as_fd().as_raw_fd();
    loop {
        let sent =
            sendmsg::<()>(socket, &[IoSlice::new(&bytes)], rights, MsgFlags::MSG_NOSIGNAL, None);
        match sent {
            Err(nix::Error::EINTR) => {}
            sent => return sent.map(|_| ()).map_err(Error::from),
        }
    }
}

/// Waits for a message; `None` when the other side is gone.
pub(crate) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> Result<Option<(T, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; INLINE_BYTES_MAX + 1];
    let (count, mut descriptors) = receive_datagram(socket.as_fd(), &mut bytes)?;
    let message = match bytes[..count].split_first() {
        None => return Ok(None),
        Some((&INLINE, rest)) => postcard::from_bytes(rest),
        Some(_) if descriptors.is_empty() => return Err(malformed("it lacks its file")),
        Some(_) => postcard::from_bytes(&contents(descriptors.remove(0))?),
    };
    let message = message.map_err(|error| malformed(&error.to_string()))?;
    Ok(Some((message, descriptors)))
}

fn receive_datagram(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<(usize, Vec<OwnedFd>)> {
    let mut space = cmsg_space!([RawFd; DESCRIPTORS_MAX + 1]);
    let mut slices = [IoSliceMut::new(bytes)];
    let message = loop {
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        match recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut space), flags) {
            Err(nix::Error::EINTR) => {}
            // A peer that was killed with something unread.
            Err(nix::Error::ECONNRESET) => return Ok((0, Vec::new())),
            message => break message?,
        }
    };
    let mut descriptors = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = control {
            for fd in raw {
                descriptors.push(crate::sys::inherited(fd)?);
            }
        }
    }
    if message.flags.intersects(MsgFlags::MSG_TRUNC | MsgFlags::MSG_CTRUNC) {
        return Err(malformed("it is too long"));
    }
    Ok((message.bytes, descriptors))
}

/// A file in memory with this content, positioned at its start. Nobody can change it, so that a program whose standard
/// input it is can keep nothing in it: its bytes count towards no box's limits.
pub(crate) fn memory_file_with<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Result<OwnedFd> {
    let mut file = File::from(crate::sys::memory_file(c"assay")?);
    parts.into_iter().try_for_each(|part| file.write_all(part))?;
    file.rewind()?;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_WRITE;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals | SealFlag::F_SEAL_SEAL))?;
    Ok(file.into())
}

fn contents(file: OwnedFd) -> Result<Vec<u8>> {
    let mut file = File::from(file);
    // Sender and receiver share the position.
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MESSAGE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn malformed(problem: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("a malformed message: {problem}"))
}
