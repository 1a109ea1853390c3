//! The messages between the host and its workers, and how they become the core's types.
//!
//! The types are generated from `proto/worker.proto` and committed, so that a build needs no compiler of
//! such files; a test compares both. A worker is not trusted to keep the limits: the receiver of a message
//! checks it.

/// The generated types; written by `make proto`.
#[allow(missing_docs, unreachable_pub, clippy::all)]
#[rustfmt::skip]
#[path = "generated/worker.rs"]
pub mod proto;

mod codec;
mod convert;

pub use codec::decode;
pub use convert::{BadMessage, finished, log_line, stage_end};

/// One message on the stream; an artifact and what surrounds it fit in.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// One part of a compiled component on its way to a worker.
pub const CHUNK_BYTES: usize = 1 << 20;
/// One frame holds the messages of a turn; HTTP/2's usual 16 KiB would cut them up.
pub const FRAME_BYTES: u32 = 1 << 20;
