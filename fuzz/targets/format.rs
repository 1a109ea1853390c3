//! Responses that the plugin `format` looks through for tagged sections. The input is the settings as JSON, a NUL and
//! a response; without a NUL it is a response under the default settings.
//!
//! The reward is 1 exactly where a naive reading finds each section's tags once, in order, with text between them and
//! no other text outside; that is checked for the default settings.

#![no_main]

use assay_plugin::{Plugin as _, Request};
use assay_plugin_format::Format;
use libfuzzer_sys::fuzz_target;

const EXPLANATION_BYTES_MAX: usize = 2 << 10;

fuzz_target!(|input: &str| {
    let (settings, response) = input.split_once('\0').unwrap_or(("{}", input));
    let Ok(outcome) =
        Format::run_stage("score", settings, &Request::new("", response, "null"), None)
    else {
        return;
    };
    let scored = outcome.scored().expect("the only stage ends with a reward");
    assert!([0.0, 1.0].contains(&scored.reward));
    assert_eq!(scored.reward == 1.0, scored.verdict == "formatted");
    assert!(scored.explanation.len() <= EXPLANATION_BYTES_MAX);
    if settings == "{}" {
        assert_eq!(scored.reward == 1.0, is_formatted(response).is_some());
    }
});

/// Nothing where the response is not `<think>...</think><answer>...</answer>`.
fn is_formatted(response: &str) -> Option<()> {
    let tags = ["<think>", "</think>", "<answer>", "</answer>"];
    if tags.iter().any(|tag| response.matches(tag).count() != 1) {
        return None;
    }
    let rest = response.trim().strip_prefix("<think>")?;
    let (thoughts, rest) = rest.split_once("</think>")?;
    let rest = rest.trim_start().strip_prefix("<answer>")?;
    let (answer, after) = rest.split_once("</answer>")?;
    (after.is_empty() && !thoughts.trim().is_empty() && !answer.trim().is_empty()).then_some(())
}
