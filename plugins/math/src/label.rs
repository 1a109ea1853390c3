//! Accepted answers as data sets have them.

use std::borrow::Cow;

use assay_plugin::Error;
use serde_json::value::RawValue;

use crate::extract::find;
use crate::fold::fold;
use crate::limits;
use crate::parse::{parse, parse_mathematics};
use crate::settings::AnswerFrom;
use crate::value::{Value, choice, plain};
use crate::verdict::shown;

/// An accepted answer.
#[derive(Debug)]
pub struct Label {
    /// As the data set has it.
    pub(crate) raw: String,
    pub(crate) text: String,
    pub(crate) reading: Reading,
    /// The letter of a multiple choice before the answer, which is right alone as well.
    pub(crate) letter: Option<char>,
}

#[derive(Debug)]
pub(crate) enum Reading {
    Value(Box<Value>),
    /// No mathematics: compared as text.
    Text(&'static str),
}

impl Label {
    /// A label may be the bare answer, or a whole solution that marks it by `\boxed` or `####`.
    pub fn read(raw: &str) -> Result<Self, Error> {
        let folded = fold(raw);
        let marked = folded.contains("\\boxed") || folded.contains("####");
        let answer = match marked {
            true => find(&folded, AnswerFrom::Mark).into_iter().next().map(|found| found.text),
            false => Some(Cow::Borrowed(folded.trim())),
        };
        let answer = answer.filter(|answer| !answer.trim().is_empty());
        let answer = answer.ok_or_else(|| Error::bad_request("the label holds no answer"))?;
        if let Some((letter, rest)) = lettered(&answer)
            && parse(rest).is_ok()
        {
            return Ok(Self { letter: Some(letter), raw: raw.to_owned(), ..Self::read(rest)? });
        }
        let label = |text: &str, reading| Self {
            raw: raw.to_owned(),
            text: text.to_owned(),
            reading,
            letter: None,
        };
        // `A is the centre` is a text, not the choice A.
        if let Some(letter) = choice(&answer).filter(|_| plain(&answer).len() <= "(b)".len()) {
            return Ok(label(&answer, Reading::Value(Box::new(Value::Choice(letter)))));
        }
        match parse(&answer) {
            Ok(Value::Text(_)) | Err(_) if !marked && states_answer(raw, &answer) => {
                let found = find(&answer, AnswerFrom::Formula).into_iter().next();
                let inner =
                    found.and_then(|found| Some((parse_mathematics(&found.text).ok()?, found)));
                if let Some((value, found)) = inner {
                    return Ok(label(&found.text, Reading::Value(Box::new(value))));
                }
            }
            Ok(value) => return Ok(label(&answer, Reading::Value(Box::new(value)))),
            Err(_) => {}
        }
        if answer.len() > limits::TEXT_BYTES_MAX {
            let max = limits::TEXT_BYTES_MAX;
            return Err(Error::bad_request(format!("the label is longer than {max} bytes")));
        }
        match parse(&answer) {
            Ok(value) => Ok(label(&answer, Reading::Value(Box::new(value)))),
            Err(unreadable) => Ok(label(&answer, Reading::Text(unreadable.0))),
        }
    }

    /// Refuses a label that is compared as text because no mathematics can be read from it.
    pub fn mathematical(&self) -> Result<(), Error> {
        let Reading::Text(why) = self.reading else { return Ok(()) };
        let shown = shown(&self.text);
        Err(Error::bad_request(format!("the label `{shown}` cannot be read: {why}")))
    }
}

/// The letter and the answer of `\textbf{(D)}\ 26`.
pub(crate) fn lettered(text: &str) -> Option<(char, &str)> {
    let text = text.trim().trim_matches('$').trim();
    let inner = ["\\textbf{", "\\text{", "\\mathrm{", "\\mathbf{", "\\textrm{"]
        .into_iter()
        .find_map(|command| text.strip_prefix(command));
    let (letter, rest) = inner.unwrap_or(text).trim_start().strip_prefix('(')?.split_once(')')?;
    let &[letter @ b'A'..=b'J'] = letter.as_bytes() else { return None };
    // The braces close after the letter, or after the whole.
    let rest = match inner {
        Some(_) => match rest.trim_start().strip_prefix('}') {
            Some(rest) => rest,
            None => rest.strip_suffix('}').filter(|_| rest.starts_with(' '))?,
        },
        None => Some(rest).filter(|rest| rest.starts_with([' ', '\\', '~']))?,
    };
    let space = [" ", "~", "\\ ", "\\,", "\\;", "\\:", "\\quad", "\\qquad", "$"];
    let mut rest = rest;
    while let Some(after) = space.iter().find_map(|space| rest.strip_prefix(space)) {
        rest = after;
    }
    let answers =
        rest.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '\\' | '-' | '.'));
    answers.then_some((char::from(letter), rest))
}

/// Whether a label is a whole solution rather than an answer. Its length is that of the text in the data set, as one
/// sign of Unicode may fold to many.
fn states_answer(raw: &str, folded: &str) -> bool {
    raw.trim().chars().count() > 60 && folded.contains(". ") && folded.contains(['$', '\\'])
}

/// Labels as the data set has them: a string, a number with all its digits, or a list of accepted answers.
pub fn labels(json: &RawValue) -> Result<Vec<Label>, Error> {
    let single = |json: &RawValue| {
        let text = json.get().trim();
        match text.as_bytes().first() {
            Some(b'"') => match serde_json::from_str::<String>(text) {
                Ok(text) => Label::read(&text),
                Err(error) => Err(Error::bad_request(format!("label: {error}"))),
            },
            Some(b'-' | b'0'..=b'9') => Label::read(text),
            Some(b'[') => Err(Error::bad_request("a label is no list of lists")),
            _ => Err(Error::bad_request("a label is a string, a number or a list of them")),
        }
    };
    if !json.get().trim_start().starts_with('[') {
        return Ok(vec![single(json)?]);
    }
    let items: Vec<&RawValue> = serde_json::from_str(json.get())
        .map_err(|error| Error::bad_request(format!("label: {error}")))?;
    if items.is_empty() || items.len() > limits::LABELS_MAX {
        let max = limits::LABELS_MAX;
        return Err(Error::bad_request(format!("a label lists 1 to {max} answers")));
    }
    items.into_iter().map(single).collect()
}
