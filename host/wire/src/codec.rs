//! The codec of the services: protobuf, but a message that has too many parts is not decoded. An empty part takes two bytes on
//! the wire and more than a hundred in memory.

use std::marker::PhantomData;

use assay_core::limits;
use prost::bytes::{Buf as _, Bytes};
use prost::{Message, decode_length_delimiter};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;

use crate::proto;

/// A message that one side receives.
pub trait Received: Message + Default + 'static {
    /// The fields whose parts are counted; none of a message that the host sends, or that has no repeated field.
    const COUNTED: &'static [Field] = &[];
}

/// A field that may occur often.
pub struct Field {
    number: usize,
    content: Content,
}

enum Content {
    Message(&'static [Field]),
    /// Numbers of a byte or more each.
    Numbers,
}

const fn message(number: usize, counted: &'static [Field]) -> Field {
    Field { number, content: Content::Message(counted) }
}

const COMPONENTS: Field = message(3, &[]);
const SCORED: Field = message(4, &[COMPONENTS]);
const LOGS: Field = message(7, &[]);
const CALLS: Field = message(8, &[]);
const FINISHED: Field = message(2, &[SCORED, LOGS, CALLS]);
const LOADS: Field = message(4, &[]);
const STARTED: Field = Field { number: 6, content: Content::Numbers };

impl Received for proto::FromWorker {
    const COUNTED: &'static [Field] = &[FINISHED, LOADS, STARTED];
}

impl Received for proto::JoinRequest {}
impl Received for proto::RenewRequest {}
impl Received for proto::FetchRequest {}
impl Received for proto::StoredRequest {}
impl Received for proto::ListRequest {}
impl Received for proto::ToWorker {}
impl Received for proto::Certificate {}
impl Received for proto::Chunk {}
impl Received for proto::StoredChunk {}
impl Received for proto::ListReply {}

/// Encodes messages `T` and decodes messages `U`.
pub struct BoundedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for BoundedCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Message + 'static, U: Received> Codec for BoundedCodec<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = BoundedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Self::Decoder {
        BoundedDecoder(PhantomData)
    }
}

pub struct BoundedDecoder<U>(PhantomData<U>);

impl<U: Received> Decoder for BoundedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        decode(buffer.copy_to_bytes(buffer.remaining())).map(Some)
    }
}

/// Decodes a message as the services do.
///
/// # Errors
/// When it is malformed, or has more parts than a worker may send.
pub fn decode<M: Received>(encoded: Bytes) -> Result<M, Status> {
    let malformed = || Status::internal("a message is not encoded as protobuf");
    let parts = count_parts(&encoded, M::COUNTED).ok_or_else(malformed)?;
    let max = limits::WORKER_MESSAGE_PARTS_MAX;
    if parts > max {
        let told = format!("a message has {parts} parts, the limit is {max}");
        return Err(Status::resource_exhausted(told));
    }
    M::decode(encoded).map_err(|error| Status::internal(error.to_string()))
}

/// The number of parts in these fields of an encoded message, at least as many as there are; `None` if it is malformed.
fn count_parts(mut rest: &[u8], counted: &[Field]) -> Option<usize> {
    let mut parts = 0;
    while !rest.is_empty() {
        let key = varint(&mut rest)?;
        let length = match key & 7 {
            0 => varint(&mut rest).map(|_| 0)?,
            1 => 8,
            2 => varint(&mut rest)?,
            5 => 4,
            // The borders of a group, which no message has.
            _ => return None,
        };
        let (content, after) = rest.split_at_checked(length)?;
        rest = after;
        if let Some(field) = counted.iter().find(|field| field.number == key >> 3) {
            parts += 1 + match field.content {
                Content::Message(counted) => count_parts(content, counted)?,
                Content::Numbers => content.len(),
            };
        }
    }
    Some(parts)
}

fn varint(bytes: &mut &[u8]) -> Option<usize> {
    // The only number that is encoded alone in the interface of prost is a length.
    decode_length_delimiter(bytes).ok()
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;
    use crate::proto::{CapabilityCall, Component, Finished, FromWorker, Load, LogLine, Scored};
    use crate::proto::{Hello, finished::End};

    fn full(lease: u64) -> Finished {
        let (name, level) = ("x".to_owned(), "info".to_owned());
        let component = Component { name: name.clone(), value: 0.5 };
        let components = vec![component; limits::COMPONENTS_MAX];
        let (reward, verdict) = (1.0, "right".to_owned());
        let scored = Scored { reward, verdict, components, explanation: String::new() };
        let call = CapabilityCall { name, after_us: 1, took_us: 1 << 40 };
        Finished {
            lease,
            ran_us: u64::MAX,
            end: Some(End::Scored(scored)),
            logs: vec![LogLine { level, message: "y".repeat(300) }; limits::LOG_LINES_MAX + 1],
            calls: vec![call; limits::TRACED_CALLS_MAX],
        }
    }

    #[test]
    fn a_worker_tells_as_much_as_it_may() {
        let leases = 0..limits::PREFETCH_LEASES_MAX as u64;
        let finished: Vec<Finished> = leases.clone().map(full).collect();
        let hello = Some(Hello { pool: "cpu".into(), ..Hello::default() });
        let messages = [
            FromWorker { finished, ..FromWorker::default() },
            FromWorker { started: leases.collect(), hello, ..FromWorker::default() },
            FromWorker { leaving: true, run_delay_us: 1 << 63, ..FromWorker::default() },
        ];
        for message in messages {
            let decoded: FromWorker = decode(message.encode_to_vec().into()).expect("it may");
            assert_eq!(decoded, message);
        }
    }

    #[test]
    fn parts_are_counted_at_each_depth() {
        let parts = |message: &FromWorker| {
            count_parts(&message.encode_to_vec(), FromWorker::COUNTED).expect("a message")
        };
        let finished = vec![full(1), Finished::default()];
        let whole =
            3 + limits::COMPONENTS_MAX + limits::LOG_LINES_MAX + 1 + limits::TRACED_CALLS_MAX;
        assert_eq!(parts(&FromWorker { finished, ..FromWorker::default() }), whole);
        let loads = vec![Load::default(); 3];
        assert_eq!(parts(&FromWorker { loads, ..FromWorker::default() }), 3);
        let started = vec![1, 2, 300];
        assert_eq!(parts(&FromWorker { started, ..FromWorker::default() }), 1 + 4);
    }

    /// Their number decides before there is memory for them.
    #[test]
    fn empty_parts_that_are_too_many_are_not_decoded() {
        let many = limits::WORKER_MESSAGE_PARTS_MAX + 1;
        let empty = |number: u8| [(number << 3) | 2, 0].repeat(many);
        let within = |number: u8, content: &[u8]| {
            let mut message = vec![(number << 3) | 2];
            prost::encode_length_delimiter(content.len(), &mut message).expect("it grows");
            message.extend_from_slice(content);
            message
        };
        let started = within(6, &vec![1; many]);
        let deep = [3].map(|number| within(2, &within(4, &empty(number))));
        let finished = [7, 8].map(|number| within(2, &empty(number)));
        for message in [empty(2), empty(4), started].into_iter().chain(deep).chain(finished) {
            let refused = decode::<FromWorker>(message.into()).expect_err("too many");
            assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
        }
    }

    #[test]
    fn a_message_that_is_cut_is_none() {
        let whole = FromWorker { finished: vec![full(1)], ..FromWorker::default() }.encode_to_vec();
        for length in (1..whole.len()).step_by(97) {
            assert!(decode::<FromWorker>(whole[..length].to_vec().into()).is_err(), "{length}");
        }
        // A group that begins.
        assert!(decode::<FromWorker>(Bytes::from_static(&[(2 << 3) | 3])).is_err());
    }
}
