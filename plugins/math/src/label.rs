//! Accepted answers as data sets have them.

use std::borrow::Cow;

use assay_plugin::Error;

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
        let label =
            |text: &str, reading| Self { raw: raw.to_owned(), text: text.to_owned(), reading };
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

/// Whether a label is a whole solution rather than an answer. Its length is that of the text in the data set, as one
/// sign of Unicode may fold to many.
fn states_answer(raw: &str, folded: &str) -> bool {
    raw.trim().chars().count() > 60 && folded.contains(". ") && folded.contains(['$', '\\'])
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
