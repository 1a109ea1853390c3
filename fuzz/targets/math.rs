//! Responses and labels of the verifier of mathematical answers. The input is a character that chooses the settings,
//! a label, a NUL and a response; without a NUL the response is the label in a box.
//!
//! An outcome is the same when it is computed again, has one of the two rewards, and a short explanation. An answer
//! that stands in a box as the label has it is correct.

#![no_main]

use assay_plugin::{Plugin as _, Request};
use assay_plugin_math::{AnswerFrom, Label, Math, Settings, verify};
use libfuzzer_sys::fuzz_target;

const SETTINGS: &[&str] = &[
    "{}",
    r#"{"strict": true}"#,
    r#"{"boxes": "agree"}"#,
    r#"{"decimals": 3}"#,
    r#"{"tolerance": 0.05}"#,
    r#"{"tolerance": 0.0}"#,
    r#"{"answer_from": "box"}"#,
    r#"{"answer_from": "mark"}"#,
    r#"{"answer_from": "formula"}"#,
    r#"{"profile": "math-verify"}"#,
    r#"{"profile": "hendrycks"}"#,
    r#"{"profile": "gsm8k"}"#,
    r#"{"profile": "minerva"}"#,
    r#"{"profile": "prime"}"#,
    r#"{"profile": "multiple-choice"}"#,
];
/// A longer label may be a whole solution, which is no answer.
const BARE_BYTES_MAX: usize = 60;
const EXPLANATION_BYTES_MAX: usize = 4 << 10;

fuzz_target!(|input: &str| {
    let Some(first) = input.chars().next() else { return };
    let settings = SETTINGS[first as usize % SETTINGS.len()];
    let rest = &input[first.len_utf8()..];
    match rest.split_once('\0') {
        Some((label, response)) => score(settings, label, response),
        None => {
            score(settings, rest, &format!("\\boxed{{{rest}}}"));
            equals_itself(rest);
        }
    }
});

fn score(settings: &str, label: &str, response: &str) {
    let label = serde_json::Value::from(label).to_string();
    let request = Request::new("", response, &label);
    let outcome = Math::run_stage("score", settings, &request, None);
    let again = Math::run_stage("score", settings, &request, None);
    assert_eq!(format!("{outcome:?}"), format!("{again:?}"));
    let Ok(outcome) = outcome else { return };
    let scored = outcome.scored().expect("the only stage ends with a reward");
    assert!([0.0, 1.0].contains(&scored.reward));
    assert!(!scored.verdict.is_empty());
    assert!(
        scored.explanation.len() <= EXPLANATION_BYTES_MAX,
        "{} bytes",
        scored.explanation.len()
    );
}

fn equals_itself(answer: &str) {
    let marked = ["boxed", "fbox", "####", "think>"].iter().any(|mark| answer.contains(mark));
    if marked || answer.len() > BARE_BYTES_MAX || !box_keeps(answer) {
        return;
    }
    if let Ok(label) = Label::read(answer) {
        // Nothing but the box marks an answer, whatever words stand in it.
        let settings = Settings { answer_from: AnswerFrom::Box, ..Settings::default() };
        let verified = verify(&format!("\\boxed{{{answer}}}"), &[label], &settings);
        assert!(verified.verdict.is_correct(), "{answer:?}: {verified:?}");
    }
}

/// Whether a text comes out of a box as it went in, also where its backslashes are doubled and become single. Characters
/// that show nothing are dropped before: a backslash in front of them escapes what comes after them. A brace of full width
/// is a brace.
fn box_keeps(text: &str) -> bool {
    let shown: String = text.replace(shows_nothing, "").chars().map(of_half_width).collect();
    closes(&shown) && closes(&shown.replace(r"\\", r"\"))
}

fn shows_nothing(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fe0f}')
}

fn of_half_width(character: char) -> char {
    match character {
        '｛' => '{',
        '｝' => '}',
        '＼' => '\\',
        other => other,
    }
}

/// Whether the braces of a text are closed before a brace that follows it.
fn closes(text: &str) -> bool {
    let mut depth = 0_i32;
    let mut escaped = false;
    for byte in text.bytes() {
        match byte {
            b'\\' => escaped = !escaped,
            _ if escaped => escaped = false,
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && !escaped
}
