//! The rules of the Minerva evaluation: the answer stands in one fixed sentence, is brought to a normal form, and
//! is right where that is the label's text or value.

use super::hendrycks::{brace_fractions, brace_roots};
use super::same_value;
use crate::settings::Settings;
use crate::verdict::Verdict;

/// The text of "Final Answer: The final answer is ... I hope it is correct."
pub(super) fn answer(response: &str) -> Option<String> {
    let (_, after) = response.split_once("Final Answer: The final answer is")?;
    let line = after.split('\n').next().unwrap_or_default();
    let text = match line.split_once(" I hope it is correct.") {
        Some((text, _)) => text,
        None => line.trim_end(),
    };
    let text = text.strip_suffix('.').unwrap_or(text).trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Words and marks that the normal form leaves out, in this order.
const LEFT_OUT: &[&str] = &[
    "square",
    "ways",
    "integers",
    "dollars",
    "mph",
    "inches",
    "ft",
    "hours",
    "km",
    "units",
    "\\ldots",
    "points",
    "feet",
    "minutes",
    "digits",
    "cents",
    "degrees",
    "cm",
    "gm",
    "pounds",
    "meters",
    "meals",
    "edges",
    "students",
    "multiples",
    "\\text{s}",
    "\\text{.}",
    "\\text{}^2",
    "\\text{}^3",
    "\\text{}",
    "\\mathrm{th}",
    "^\\circ",
    "^{\\circ}",
    "\\;",
    ",\\!",
    "{,}",
    "\"",
    "\\dots",
];

pub(super) fn normal(answer: &str) -> String {
    let mut text = answer.rsplit('=').next().unwrap_or_default().to_owned();
    for (from, to) in [
        ("an ", ""),
        ("a ", ""),
        (".$", "$"),
        ("\\$", ""),
        ("\\ ", ""),
        (" ", ""),
        ("mbox", "text"),
        (",\\text{and}", ","),
        ("\\text{and}", ","),
        ("\\text{m}", "\\text{}"),
    ] {
        text = text.replace(from, to);
    }
    for word in LEFT_OUT {
        text = text.replace(word, "");
    }
    if let Some((_, after)) = text.split_once('$')
        && let Some((formula, _)) = after.split_once('$')
    {
        text = formula.to_owned();
    }
    for command in ["\\text{", "\\textbf{", "\\overline{", "\\boxed{"] {
        text = unwrap(&text, command);
    }
    let text = brace_roots(&brace_fractions(&text)).replace('$', "");
    let digits = text.replace(',', "");
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole { digits } else { text }
}

/// The text with the arguments of a command in its place.
fn unwrap(text: &str, command: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(command) {
        plain.push_str(before);
        match after.split_once('}') {
            Some((inner, behind)) => {
                plain.push_str(inner);
                rest = behind;
            }
            None => rest = after,
        }
    }
    plain + rest
}

pub(super) fn equal(answer: &str, label: &str) -> Option<(Verdict, &'static str)> {
    let (answer, label) = (normal(answer), normal(label));
    if answer == label {
        return Some((Verdict::CorrectText, "their normal forms are the same text"));
    }
    let exact = Settings { tolerance: 0.0, strict: true, ..Settings::default() };
    same_value(&answer, &label, &exact)
        .then_some((Verdict::CorrectExact, "their normal forms have the same value"))
}
