//! What travels between a worker and an executor: a length in four bytes, then as many of postcard.

use std::io::{Error, ErrorKind, Read, Result, Write};

use assay_model::limits::GPU_TRANSFER_BYTES_MAX;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::device::{Comparison, Problem, Properties};
use crate::session::{BufferSpec, Pair};
use crate::types::{Address, KernelInfo, Step};

/// The largest transfer with what stands around it; nobody sends more.
const MESSAGE_BYTES_MAX: u32 = GPU_TRANSFER_BYTES_MAX as u32 + (64 << 20);

/// From the executor, once.
pub(crate) type Hello = std::result::Result<Properties, Problem>;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Forgets all that was.
    Reset {
        printed_bytes: u32,
    },
    Load(ByteBuf),
    Kernels(u32),
    Alloc(Vec<BufferSpec>),
    Upload {
        at: Address,
        bytes: ByteBuf,
    },
    Download {
        at: Address,
        bytes: u64,
    },
    /// What `Run` runs from here on. Modules are numbered as in this executor.
    Plan(Vec<Step>),
    /// Makes all buffers anew.
    Prepare {
        seed: u64,
    },
    Run {
        what: What,
        flush: bool,
        /// What a simulated device may run.
        steps: u64,
    },
    /// Writes all buffers, guards included, to the exchange.
    Export,
    /// Finds what the exporter changed that it must not; before this side has run anything.
    Inspect,
    Compare(Vec<Pair>),
    Printed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum What {
    Plan,
    /// An empty plan: what timing itself costs.
    Nothing,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Loaded(u32),
    Kernels(Vec<KernelInfo>),
    Bytes(ByteBuf),
    Ran(Ran),
    Inspected { inputs_changed: Vec<u32>, overrun: Vec<u32> },
    Compared(Vec<Comparison>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ran {
    pub(crate) event_ns: Option<u64>,
    pub(crate) wall_ns: u64,
    /// Of the steps that were allowed.
    pub(crate) steps_left: u64,
}

pub(crate) type Reply = std::result::Result<Answer, Problem>;

pub(crate) fn send(to: &mut impl Write, message: &impl Serialize) -> Result<()> {
    let mut bytes = postcard::to_extend(message, vec![0; 4]).map_err(Error::other)?;
    let length = u32::try_from(bytes.len() - 4).ok().filter(|length| *length <= MESSAGE_BYTES_MAX);
    let length = length.ok_or_else(|| malformed("it is too long"))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    to.write_all(&bytes)
}

/// Waits for a message; `None` when the other side is gone.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if length > MESSAGE_BYTES_MAX {
        return Err(malformed("it is too long"));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != u64::from(length) {
        return Ok(None);
    }
    postcard::from_bytes(&bytes).map(Some).map_err(|error| malformed(&error.to_string()))
}

fn is_gone(error: &Error) -> bool {
    // Reset: a peer that was killed with something unread.
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset)
}

fn malformed(problem: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("a malformed message: {problem}"))
}

#[cfg(test)]
mod tests;
