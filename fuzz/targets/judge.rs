//! The chat completion of a model that judges, as bytes.
//!
//! An opinion that is taken has the mark, which only the judge knows, a score within the scale for every criterion
//! and for nothing else, and a short reason without control characters.

#![no_main]

use assay_plugin_judge::{Mark, Settings, read};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const SETTINGS: &str = r#"{"url": "https://a.example", "model": "m", "criteria": [
    {"name": "right", "description": "x"}, {"name": "clear", "description": "x"}]}"#;
const MARK: Mark = Mark(0x0123_4567_89ab_cdef);
const REASON_BYTES_MAX: usize = 2_048;

fuzz_target!(|body: &[u8]| {
    let settings = Settings::read(SETTINGS).expect("the settings are right");
    let judged = match read(body, &settings, MARK) {
        Ok(judged) => judged,
        Err(why) => {
            assert!(why.len() < 200, "{why}");
            return;
        }
    };
    let (least, best) = settings.scale;
    assert!(judged.scores.keys().map(String::as_str).eq(["clear", "right"]));
    assert!(judged.scores.values().all(|score| (least..=best).contains(score)));
    assert!(
        judged.reason.len() <= REASON_BYTES_MAX && !judged.reason.chars().any(char::is_control)
    );
    // An independent reading, where fields that are skipped are texts as well: JSON may write letters as escapes.
    let Ok(completion) = serde_json::from_slice::<Value>(body) else { return };
    let said = completion["choices"][0]["message"]["content"].as_str().expect("it was read");
    assert!(said.contains(&MARK.to_string()) || said.contains('\\'));
});
