//! From a response and a label to a verdict and the reason for it.

use assay_plugin::Error;

use crate::compare::{Equal, compare};
use crate::extract::{Found, Source, find, find_inside};
use crate::limits;
use crate::parse::{parse, parse_mathematics};
use crate::settings::Settings;
use crate::value::{Value, choice, plain};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    CorrectExact,
    /// A number that is right within the tolerance.
    CorrectNumeric,
    /// A right answer in words, or the right letter of a multiple choice.
    CorrectText,
    /// Right, but only as the last number of a response that marks no answer.
    CorrectLastNumber,
    Wrong,
    /// There is an answer, but it is no mathematics.
    Unparsable,
    NoAnswer,
}

impl Verdict {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CorrectExact => "correct_exact",
            Self::CorrectNumeric => "correct_numeric",
            Self::CorrectText => "correct_text",
            Self::CorrectLastNumber => "correct_last_number",
            Self::Wrong => "wrong",
            Self::Unparsable => "unparsable",
            Self::NoAnswer => "no_answer",
        }
    }

    #[must_use]
    pub const fn is_correct(self) -> bool {
        matches!(
            self,
            Self::CorrectExact | Self::CorrectNumeric | Self::CorrectText | Self::CorrectLastNumber
        )
    }
}

#[derive(Debug)]
pub struct Verified {
    pub verdict: Verdict,
    pub boxed: bool,
    pub explanation: String,
}

/// An accepted answer.
#[derive(Debug)]
pub struct Label {
    text: String,
    value: Value,
}

impl Label {
    /// A label may be the bare answer, or a whole solution that marks it by `\boxed` or `####`.
    pub fn read(text: &str) -> Result<Self, Error> {
        let marked = text.contains("\\boxed") || text.contains("####");
        let found = if marked { find(text).map(|found| found.text) } else { Some(text.trim()) };
        let answer = found.filter(|answer| !answer.is_empty());
        let answer = answer.ok_or_else(|| Error::bad_request("the label holds no answer"))?;
        // `A is the centre` is a text, not the choice A.
        let value = match choice(answer).filter(|_| plain(answer).len() <= "(b)".len()) {
            Some(letter) => Value::Choice(letter),
            None => parse(answer).map_err(|unreadable| {
                let shown = shown(answer);
                Error::bad_request(format!("the label `{shown}` cannot be read: {}", unreadable.0))
            })?,
        };
        Ok(Self { text: answer.to_owned(), value })
    }
}

/// Labels as the data set has them: a string, a number, or a list of accepted answers.
pub fn labels(json: &serde_json::Value) -> Result<Vec<Label>, Error> {
    match json {
        serde_json::Value::String(text) => Ok(vec![Label::read(text)?]),
        serde_json::Value::Number(number) => Ok(vec![Label::read(&number.to_string())?]),
        serde_json::Value::Array(items) => {
            if items.is_empty() || items.len() > limits::LABELS_MAX {
                let max = limits::LABELS_MAX;
                return Err(Error::bad_request(format!("a label lists 1 to {max} answers")));
            }
            let mut all = Vec::new();
            for item in items {
                if item.is_array() {
                    return Err(Error::bad_request("a label is no list of lists"));
                }
                all.append(&mut labels(item)?);
            }
            Ok(all)
        }
        _ => Err(Error::bad_request("a label is a string, a number or a list of them")),
    }
}

#[must_use]
pub fn verify(response: &str, labels: &[Label], settings: &Settings) -> Verified {
    let Some(found) = find(response) else {
        let cut = response.contains("\\boxed") || response.contains("\\fbox");
        let why =
            if cut { "the last \\boxed is not closed" } else { "the response holds no answer" };
        return Verified { verdict: Verdict::NoAnswer, boxed: false, explanation: why.into() };
    };
    let boxed = found.source == Source::Boxed;
    let guesses = settings.last_number && !settings.strict;
    if found.source == Source::LastNumber && !guesses {
        let explanation = "the response marks no answer".into();
        return Verified { verdict: Verdict::NoAnswer, boxed, explanation };
    }
    let (mut verdict, mut why) = judge(found, labels, settings);
    let mut taken = found;
    let wordy = matches!(found.source, Source::Marked(_) | Source::Formula);
    if verdict == Verdict::Unparsable
        && wordy
        && let Some(inner) = find_inside(found.text)
        && inner.text != found.text
        && (guesses || inner.source == Source::Formula)
    {
        (verdict, why) = judge(inner, labels, settings);
        taken = inner;
    }
    let explanation =
        format!("took `{}` from {}; {why}", shown(taken.text), taken.source.describe());
    Verified { verdict, boxed, explanation }
}

fn judge(found: Found, labels: &[Label], settings: &Settings) -> (Verdict, String) {
    let answer = parse_mathematics(found.text);
    let words = plain(found.text);
    let mut readable = false;
    for label in labels {
        let equal = match &label.value {
            Value::Choice(letter) => {
                let bare = words.len() == 1 && words.eq_ignore_ascii_case(&letter.to_string());
                let chosen = choice(found.text).or_else(|| bare.then_some(*letter));
                readable |= chosen.is_some() || answer.is_ok();
                (chosen == Some(*letter)).then_some(Equal::AsText)
            }
            Value::Text(text) => {
                readable = true;
                (*text == words || opens_with(found.text, text)).then_some(Equal::AsText)
            }
            value => {
                readable |= answer.is_ok();
                let equal =
                    answer.as_ref().ok().and_then(|answer| compare(value, answer, settings));
                equal.or_else(|| (plain(&label.text) == words).then_some(Equal::AsText))
            }
        };
        if let Some(equal) = equal {
            let how = match equal {
                Equal::Exactly => "exactly",
                Equal::Numerically => "within the tolerance",
                Equal::AsText => "as text",
            };
            let why = format!("equal to the label `{}` {how}", shown(&label.text));
            return (correct(equal, found.source), why);
        }
    }
    let first = labels.first().map_or("", |label| label.text.as_str());
    match (readable, answer) {
        (false, Err(unreadable)) => {
            (Verdict::Unparsable, format!("it cannot be read: {}", unreadable.0))
        }
        _ => (Verdict::Wrong, format!("not equal to the label `{}`", shown(first))),
    }
}

/// `Yes, because ...` and `No it is not` for a label that is one of four words.
fn opens_with(answer: &str, word: &str) -> bool {
    if !matches!(word, "yes" | "no" | "true" | "false") {
        return false;
    }
    let end = answer.find(|c: char| !c.is_alphanumeric()).unwrap_or(answer.len());
    let (first, rest) = answer.split_at(end);
    let prose = rest.trim_start().starts_with(|c: char| c.is_alphabetic());
    first.eq_ignore_ascii_case(word) && (prose || rest.starts_with([',', '.', ';', ':', '!']))
}

fn correct(equal: Equal, source: Source) -> Verdict {
    match (source, equal) {
        (Source::LastNumber, _) => Verdict::CorrectLastNumber,
        (_, Equal::Exactly) => Verdict::CorrectExact,
        (_, Equal::Numerically) => Verdict::CorrectNumeric,
        (_, Equal::AsText) => Verdict::CorrectText,
    }
}

fn shown(text: &str) -> String {
    text.chars().take(limits::SHOWN_CHARS_MAX).collect()
}
