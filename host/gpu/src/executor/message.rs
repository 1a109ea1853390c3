//! The messages between a worker and an executor: a length in four bytes, then as many bytes of postcard.

use std::io::{Error, ErrorKind, Read, Result, Write};

use assay_core::limits::GPU_TRANSFER_BYTES_MAX;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::device::{BufferComparison, DeviceProblem, Properties};
use crate::device::{BufferSpec, Pair, SharedHandle};
use crate::types::{BufferAddress, KernelInfo, PlanStep};

/// The most bytes of a message: the largest transfer and its envelope.
const MESSAGE_BYTES_MAX: u32 = GPU_TRANSFER_BYTES_MAX as u32 + (64 << 20);

/// The executor's first message.
pub(crate) type Hello = std::result::Result<Properties, DeviceProblem>;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ExecutorRequest {
    /// Deletes modules, buffers and plan.
    Reset {
        printed_bytes: u32,
    },
    Load(ByteBuf),
    Kernels(u32),
    Alloc(Vec<BufferSpec>),
    Upload {
        at: BufferAddress,
        bytes: ByteBuf,
    },
    Download {
        at: BufferAddress,
        bytes: u64,
    },
    /// Sets the plan of later `Run`s. Modules have this executor's numbers.
    Plan(Vec<PlanStep>),
    /// Fills all buffers from a seed.
    Prepare {
        seed: u64,
    },
    Run {
        what: RunTarget,
        flush: bool,
        /// The steps that a simulated device may run.
        steps: u64,
    },
    /// Hands over all buffers and their guards: through the exchange, but for the elements of large ones that the other
    /// side may read where they are (`share`).
    Export {
        share: bool,
    },
    /// Finds forbidden changes that the exporter made; to be sent before this side has run anything.
    Inspect {
        shared: Vec<SharedBuffer>,
    },
    Compare {
        pairs: Vec<Pair>,
        shared: Vec<SharedBuffer>,
    },
    Printed,
}

/// A buffer whose elements stay in the memory of its side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SharedBuffer {
    pub(crate) number: u32,
    pub(crate) handle: SharedHandle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RunTarget {
    Plan,
    /// An empty plan, to measure the cost of timing itself.
    Nothing,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ExecutorAnswer {
    Done,
    Loaded(u32),
    Kernels(Vec<KernelInfo>),
    Bytes(ByteBuf),
    Ran(RunTimes),
    Exported(Vec<SharedBuffer>),
    /// The other side's memory is out of reach: it must export everything.
    NotShared(String),
    Inspected {
        inputs_changed: Vec<u32>,
        overrun: Vec<u32>,
    },
    Compared(Vec<BufferComparison>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunTimes {
    pub(crate) event_ns: Option<u64>,
    pub(crate) wall_ns: u64,
    /// The allowed steps that were not run.
    pub(crate) steps_left: u64,
}

pub(crate) type Reply = std::result::Result<ExecutorAnswer, DeviceProblem>;

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
