//! The rules of PRIME, which verl has too: the last box, else what follows "answer is" or the last "is" or `=`;
//! equal as text, as mathematics, or as numbers within one part in ten thousand, also a hundredfold.

use super::hendrycks::normal;
use super::same_value;
use crate::extract::last_boxes;
use crate::settings::Settings;
use crate::verdict::Verdict;

const TOLERANCE: f64 = 1e-4;

pub(super) fn answer(response: &str) -> Option<String> {
    if let Some(boxed) = last_boxes(response).first() {
        return Some((*boxed).to_owned());
    }
    let mut text = response;
    for mark in ["answer:", "answer is", "answers are"] {
        text = after_last(text, mark).unwrap_or(text).trim();
    }
    text = text.rsplit_once(". ").map_or(text, |(before, _)| before).trim();
    for mark in ["be ", "is ", "are ", "=", ": ", "get "] {
        text = after_last(text, mark).unwrap_or(text).trim();
    }
    let text = text.trim_end_matches('.');
    (!text.is_empty()).then(|| text.to_owned())
}

fn after_last<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    let bytes = text.as_bytes();
    let start = (0..=bytes.len().checked_sub(mark.len())?)
        .rev()
        .find(|at| bytes[*at..*at + mark.len()].eq_ignore_ascii_case(mark.as_bytes()))?;
    Some(&text[start + mark.len()..])
}

pub(super) fn equal(answer: &str, label: &str) -> Option<(Verdict, &'static str)> {
    if normal(answer).eq_ignore_ascii_case(&normal(label)) {
        return Some((Verdict::CorrectText, "their normal forms are the same text"));
    }
    let near = Settings { tolerance: TOLERANCE, ..Settings::default() };
    if same_value(answer, label, &near) {
        return Some((Verdict::CorrectNumeric, "their values are equal within 0.0001"));
    }
    // A rounded pi on either side.
    if answer.contains("\\pi") || label.contains("\\pi") {
        let rounded = |text: &str| text.replace("\\pi", "(3.14)");
        if same_value(&rounded(answer), &rounded(label), &near) {
            return Some((Verdict::CorrectNumeric, "their values are equal where pi is 3.14"));
        }
    }
    // Rust reads `inf` and `1e999` as infinity, which is near every number.
    let number = |text: &str| {
        let value = text.trim().replace([',', '%', '\\', '$'], "").parse::<f64>().ok()?;
        value.is_finite().then_some(value)
    };
    let (answer, label) = (number(answer)?, number(label)?);
    let equal = [label / 100.0, label, label * 100.0]
        .into_iter()
        .filter(|label| label.is_finite())
        .any(|label| (answer - label).abs() <= TOLERANCE * answer.abs().max(label.abs()));
    equal.then_some((Verdict::CorrectNumeric, "their values are equal, perhaps as percentages"))
}
