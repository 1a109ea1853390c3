//! The messages between the host and its workers, and how they become the model's types.
//!
//! Generated from `proto/worker.proto`. A worker is not trusted to keep the limits: whoever
//! receives a message checks it.

/// Generated code.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod proto {
    tonic::include_proto!("assay.worker.v1");
}

mod convert;

pub use convert::{BadMessage, finished, stage_end};

/// One message on the stream; an artifact and what surrounds it fit in.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// Of a compiled component, on its way to a worker.
pub const CHUNK_BYTES: usize = 1 << 20;
/// One frame holds the messages of a turn; HTTP/2's usual 16 KiB would cut them up.
pub const FRAME_BYTES: u32 = 1 << 20;
