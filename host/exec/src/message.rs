//! Messages on the sockets: bytes and descriptors, whole or not at all. What is too long for a
//! datagram travels as a file in memory.

use std::fs::File;
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Read as _, Result, Seek as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::cmsg_space;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::job::{Party, Purpose};
use crate::limits::Limits;
use crate::outcome::{Captured, Ending, Usage};
use crate::support::Support;

/// What fits in a datagram beside the mark.
const INLINE_BYTES_MAX: usize = 64 << 10;
/// Nobody sends more: a message beyond this comes from a broken peer.
const MESSAGE_BYTES_MAX: u64 = 4 << 30;
/// Descriptors in one message.
pub(crate) const DESCRIPTORS_MAX: usize = 64;

const INLINE: u8 = 0;
const IN_FILE: u8 = 1;

/// From the helper, once, when it is ready or refuses.
pub(crate) type Hello = std::result::Result<Support, String>;

/// From the worker: one job, or two that talk. Descriptors: for each its standard input, its files
/// behind one another in one, and its program if that is a sealed file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) jobs: Vec<OrderedJob>,
    /// From now.
    pub(crate) deadline_ms: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OrderedJob {
    pub(crate) purpose: Purpose,
    /// `None`: the sealed file.
    pub(crate) path: Option<String>,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) files: Vec<OrderedFile>,
    pub(crate) collect: Vec<String>,
    pub(crate) limits: Limits,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OrderedFile {
    pub(crate) path: String,
    pub(crate) executable: bool,
    pub(crate) size_bytes: u64,
}

/// How a box ended, from its init, with the files that were asked for as descriptors.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Last {
    Ended {
        /// As `wait` has it.
        status: i32,
        /// CPU time of the init itself, which is not the program's.
        init_cpu_us: u64,
        /// By the machine's monotonic clock, as all processes see it.
        ended_at: Duration,
    },
    /// The program's own fault: it is none.
    NotExecuted { problem: String },
    /// Ours.
    NotMade { problem: String },
}

/// The answer to an order.
#[derive(Serialize, Deserialize)]
pub(crate) enum Reply {
    Ended {
        boxes: Vec<Report>,
        first_to_end: Party,
    },
    /// The order's deadline came first.
    Deadline,
    /// A box could not be made or watched.
    Failed(String),
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) ending: Ending,
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

/// A file in memory with this content, to be read from its start.
pub(crate) fn memory_file_with<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Result<OwnedFd> {
    let mut file = File::from(crate::sys::memory_file(c"assay")?);
    parts.into_iter().try_for_each(|part| file.write_all(part))?;
    file.rewind()?;
    Ok(file.into())
}

fn contents(file: OwnedFd) -> Result<Vec<u8>> {
    let mut file = File::from(file);
    // The sender's position is ours.
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MESSAGE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn malformed(problem: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("a malformed message: {problem}"))
}
