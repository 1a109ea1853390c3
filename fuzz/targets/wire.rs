//! Messages between the server and workers, of which neither trusts the other's bytes. The first byte chooses the
//! message, the rest is the message as it travels.
//!
//! A message that is read is the same after it was written and read again, and the services read the same of it. A stage end that is taken keeps the limits
//! of outcomes and comes back from the message that a worker would send for it. A log line fits the limits.

#![no_main]

use assay_core::limits::{
    ARTIFACT_BYTES_MAX, ERROR_MESSAGE_BYTES_MAX, LOG_LINE_BYTES_MAX, WORKER_MESSAGE_PARTS_MAX,
};
use assay_core::outcome::StageEnd;
use assay_wire::proto::finished::End;
use assay_wire::{decode, finished, log_line, proto, stage_end};
use libfuzzer_sys::fuzz_target;
use prost::Message;

fuzz_target!(|input: &[u8]| {
    let Some((kind, bytes)) = input.split_first() else { return };
    match kind % 10 {
        0 | 1 => {
            let message = again::<proto::FromWorker>(bytes);
            bounded(bytes, message.as_ref());
            message.into_iter().flat_map(|message| message.finished).for_each(ended);
        }
        2 => again::<proto::Finished>(bytes).into_iter().for_each(ended),
        3 => drop(again::<proto::ToWorker>(bytes)),
        4 => drop(again::<proto::Body>(bytes)),
        5 => drop(again::<proto::JoinRequest>(bytes)),
        6 => drop(again::<proto::FetchRequest>(bytes)),
        7 => drop(again::<proto::StoredRequest>(bytes)),
        8 => drop(again::<proto::StoredChunk>(bytes)),
        _ => drop(again::<proto::ListReply>(bytes)),
    }
});

/// The services decode the same message, unless it has too many parts.
fn bounded(bytes: &[u8], message: Option<&proto::FromWorker>) {
    let decoded = decode::<proto::FromWorker>(bytes.to_vec().into());
    let parts = message.map_or(0, parts);
    match decoded {
        Ok(decoded) => {
            assert!(parts <= WORKER_MESSAGE_PARTS_MAX, "{parts} parts");
            let written = message.map(Message::encode_to_vec);
            assert_eq!(Some(decoded.encode_to_vec()), written);
        }
        // A malformed message may hold a group, which the services refuse and the library skips.
        Err(refused) => assert!(!refused.message().is_empty()),
    }
}

fn parts(message: &proto::FromWorker) -> usize {
    let of_end = |end: &proto::Finished| {
        let components = match &end.end {
            Some(End::Scored(scored)) => scored.components.len(),
            _ => 0,
        };
        1 + end.logs.len() + end.calls.len() + components
    };
    let finished: usize = message.finished.iter().map(of_end).sum();
    finished + message.loads.len() + message.started.len()
}

/// The message, if the bytes are one. NaN differs from itself, so bytes are compared.
fn again<M: Message + Default>(bytes: &[u8]) -> Option<M> {
    let message = M::decode(bytes).ok()?;
    let written = message.encode_to_vec();
    let read = M::decode(&written[..]).expect("what was written can be read");
    assert_eq!(read.encode_to_vec(), written);
    Some(message)
}

fn ended(message: proto::Finished) {
    for line in message.logs {
        let line = log_line(line);
        assert!(line.message.len() <= LOG_LINE_BYTES_MAX && !line.message.contains('\0'));
        assert_eq!(log_line(line.clone()), line);
    }
    let Ok(end) = stage_end(message.end) else { return };
    match &end {
        StageEnd::Scored(scored) => assert_eq!(scored.check(), Ok(())),
        StageEnd::Next(artifact) => assert!(artifact.bytes.len() <= ARTIFACT_BYTES_MAX),
        StageEnd::Failed(error) => assert!(error.message.len() <= ERROR_MESSAGE_BYTES_MAX),
        StageEnd::TimedOut => {}
    }
    let sent = finished(message.lease, message.ran_us, end.clone(), Vec::new());
    assert_eq!(stage_end(sent.end), Ok(end));
}
