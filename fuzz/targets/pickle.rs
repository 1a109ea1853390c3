//! Lists that a trainer packs: pickled, compressed, in base64. The input is a pickle, which is packed here, or a text
//! as it arrives.
//!
//! A list that is read has no more values, bytes and levels than the reader allows, and comes back from its JSON.

#![no_main]

use std::io::Write as _;

use base64::Engine as _;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

// The module of the server itself; the crate around it would take a hundred others.
#[rustfmt::skip]
#[path = "../../host/http/src/protocols/pickle.rs"]
mod pickle;

const VALUES_MAX: usize = 100_000;
const BYTES_MAX: usize = 8 << 20;
const DEPTH_MAX: usize = 65;

fuzz_target!(|input: &[u8]| {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(input).expect("memory takes bytes");
    let packed = packed.finish().expect("memory takes bytes");
    check(&base64::engine::general_purpose::STANDARD.encode(packed));
    if let Ok(text) = std::str::from_utf8(input) {
        check(text);
    }
});

fn check(text: &str) {
    match pickle::packed_list(text) {
        Ok(values) => {
            let list = Value::Array(values);
            let (mut count, mut bytes) = (0, 0);
            measure(&list, 0, &mut count, &mut bytes);
            assert!(count <= VALUES_MAX && bytes <= BYTES_MAX, "{count} values, {bytes} bytes");
            let again: Value = serde_json::from_str(&list.to_string()).expect("JSON was written");
            assert_eq!(again, list);
        }
        Err(why) => assert!(why.len() < 200, "{why}"),
    }
}

fn measure(value: &Value, depth: usize, count: &mut usize, bytes: &mut usize) {
    assert!(depth <= DEPTH_MAX, "too deep");
    *count += 1;
    match value {
        Value::String(text) => *bytes += text.len(),
        Value::Array(items) => items.iter().for_each(|item| measure(item, depth + 1, count, bytes)),
        Value::Object(object) => {
            object.values().for_each(|item| measure(item, depth + 1, count, bytes))
        }
        _ => {}
    }
}
