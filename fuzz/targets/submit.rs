//! Submissions of requests as lines of JSON. The input is a number of bytes by which the body is cut into pieces, and the
//! body.
//!
//! The lines are those of the body, however it is cut. An item that is taken is within the limits, and its bytes hold what
//! the JSON says; one that is refused is refused in few words.

#![no_main]

use assay_core::limits;
use assay_wire::proto;
use libfuzzer_sys::fuzz_target;
use prost::Message as _;
use serde_json::Value;

use lines::{BodyLine, Lines};

// The modules of the server itself; the crate around them would take a hundred others.
#[rustfmt::skip]
#[allow(dead_code, reason = "the server uses more of it")]
#[path = "../../host/http/src/extract/item.rs"]
mod item;
#[rustfmt::skip]
#[path = "../../host/http/src/extract/lines.rs"]
mod lines;
#[rustfmt::skip]
#[path = "../../host/http/src/extract/name.rs"]
mod name;
#[rustfmt::skip]
#[allow(dead_code, reason = "the server uses more of it")]
#[path = "../../host/http/src/extract/object.rs"]
mod object;

/// Lines of the server are longer; these are easier to exceed.
const LINE_BYTES_MAX: usize = 256;
const TOLD_BYTES_MAX: usize = 8 << 10;

fuzz_target!(|input: &[u8]| {
    let Some((&cut, body)) = input.split_first() else { return };
    let naive: Vec<_> =
        body.split(|byte| *byte == b'\n').map(|line| short(line.to_vec())).collect();
    assert_eq!(read_lines(body, usize::from(cut).max(1)), naive);
    for line in naive.into_iter().flatten() {
        check(&line);
    }
});

fn short(line: Vec<u8>) -> Option<Vec<u8>> {
    (line.len() <= LINE_BYTES_MAX).then_some(line)
}

fn read_lines(body: &[u8], piece_bytes: usize) -> Vec<Option<Vec<u8>>> {
    let taken = |line: BodyLine<'_>| match line {
        BodyLine::Whole(line) => Some(line.into_owned()),
        BodyLine::TooLong => None,
    };
    let (mut lines, mut all) = (Lines::new(LINE_BYTES_MAX), Vec::new());
    for mut piece in body.chunks(piece_bytes) {
        while let Some(line) = lines.next(&mut piece) {
            all.push(taken(line));
        }
    }
    all.push(taken(lines.last()));
    all
}

fn check(line: &[u8]) {
    match item::read(line) {
        Ok(read) => {
            let said: Value = serde_json::from_slice(line).expect("it was read");
            assert_eq!(said["key"], read.key);
            assert!((1..=limits::KEY_BYTES_MAX).contains(&read.key.len()));
            let item = item::Item::from(read);
            let body = proto::Body::decode(&item.body[..]).expect("it was encoded");
            assert_eq!(said["response"], body.response);
            assert_eq!(said["prompt"].as_str().unwrap_or_default(), body.prompt);
            for (name, text) in [("label", &body.label), ("metadata", &body.metadata)] {
                let value = if text.is_empty() { "null" } else { text };
                let value: Value = serde_json::from_str(value).expect("it is JSON still");
                assert_eq!(said[name], value);
            }
        }
        Err((key, why)) => {
            assert!(
                key.len() <= 4 * limits::KEY_BYTES_MAX && why.len() <= TOLD_BYTES_MAX,
                "{key} {why}"
            );
        }
    }
}
