//! What trainers write in forms of their own: prompts as texts or messages, labels, and the verified rows of NeMo-Gym's
//! metrics. The input is JSON. (`pickle` holds what open-instruct packs.)
//!
//! A prompt that is read has every text of its messages. Metrics are a JSON object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;

use text::Prompt;

// The modules of the server itself; the crate around them would take a hundred others.
#[rustfmt::skip]
#[path = "../../host/http/src/protocols/metrics.rs"]
mod metrics;
#[rustfmt::skip]
#[path = "../../host/http/src/protocols/text.rs"]
mod text;

fuzz_target!(|input: &str| {
    if let Ok(prompt) = serde_json::from_str::<Prompt>(input) {
        let said: Value = serde_json::from_str(input).expect("it was read");
        let read = prompt.into_text();
        match said {
            Value::String(text) => assert_eq!(read, text),
            Value::Array(messages) => {
                let whole = |message: &Value| message["content"].as_str().map(str::to_owned);
                for text in messages.iter().filter_map(whole) {
                    assert!(read.contains(&text), "{text} is not in {read}");
                }
            }
            other => panic!("{other} was taken for a prompt"),
        }
    }
    if let Ok(label) = serde_json::from_str::<Box<RawValue>>(input) {
        let is_null = label.get() == "null";
        assert_eq!(text::label(Some(label)).is_none(), is_null);
    }
    if let Ok(verified) = serde_json::from_str::<metrics::Verified>(input) {
        let told: Value = serde_json::from_slice(&verified.into_metrics()).expect("JSON");
        assert!(told.is_object(), "{told}");
    }
});
