//! The rules of other projects, for runs that must be comparable with theirs: where each looks for an answer and
//! when it takes two answers for equal. Written from their published behaviour; README.md lists what differs.

mod hendrycks;
mod minerva;
mod prime;

use crate::compare::compare;
use crate::extract::{find, last_boxes};
use crate::fold::fold;
use crate::label::Label;
use crate::parse::parse_mathematics;
use crate::settings::{AnswerFrom, Profile, Settings};
use crate::value::{choice, plain};
use crate::verdict::{Verdict, Verified, shown};

pub(crate) fn verify(profile: Profile, response: &str, labels: &[Label]) -> Verified {
    let boxed = !last_boxes(response).is_empty();
    let Some(answer) = answer(profile, response) else {
        let explanation = match profile {
            Profile::Hendrycks => "the response has no closed \\boxed",
            Profile::Gsm8k => "the response has no number after ####",
            Profile::Minerva => "the response does not end in the sentence of its final answer",
            Profile::MultipleChoice => "the response chooses no letter",
            _ => "the response holds no answer",
        };
        return Verified { verdict: Verdict::NoAnswer, boxed, explanation: explanation.into() };
    };
    for label in labels {
        if let Some((verdict, how)) = equal(profile, &answer, &label.raw) {
            let (answer, label) = (shown(&answer), shown(&label.raw));
            let explanation = format!("took `{answer}`; the label is `{label}`; {how}");
            return Verified { verdict, boxed, explanation };
        }
    }
    let label = labels.first().map_or("", |label| label.raw.as_str());
    let forms = match profile {
        Profile::Hendrycks => {
            Some((hendrycks::normal(&answer), hendrycks::normal(&bare_label(label))))
        }
        Profile::Minerva => Some((minerva::normal(&answer), minerva::normal(&bare_label(label)))),
        _ => None,
    };
    let forms = forms.map_or_else(String::new, |(answer, label)| {
        format!(", in normal form `{}` and `{}`", shown(&answer), shown(&label))
    });
    let (answer, label) = (shown(&answer), shown(label));
    let explanation = format!("took `{answer}`; the label is `{label}`{forms}; they differ");
    Verified { verdict: Verdict::Wrong, boxed, explanation }
}

fn answer(profile: Profile, response: &str) -> Option<String> {
    match profile {
        Profile::Hendrycks => last_boxes(response).first().map(|text| (*text).to_owned()),
        Profile::Gsm8k => hash_number(response),
        Profile::Minerva => minerva::answer(response),
        Profile::MultipleChoice => chosen(response).map(String::from),
        _ => prime::answer(response),
    }
    .filter(|answer| answer.len() <= crate::limits::ANSWER_BYTES_MAX)
}

fn equal(profile: Profile, answer: &str, label: &str) -> Option<(Verdict, &'static str)> {
    let text = |equal: bool, how| equal.then_some((Verdict::CorrectText, how));
    match profile {
        Profile::Hendrycks => text(
            hendrycks::normal(answer) == hendrycks::normal(&bare_label(label)),
            "their normal forms are the same text",
        ),
        Profile::Gsm8k => {
            let number = hash_number(label).unwrap_or_else(|| label.trim().replace([',', '$'], ""));
            text(answer == number, "they are the same digits")
        }
        Profile::MultipleChoice => {
            let bare = plain(label);
            let letter = choice(label).or_else(|| single_letter(&bare))?;
            text(answer.chars().eq([letter]), "they are the same choice")
        }
        Profile::Minerva => minerva::equal(answer, &bare_label(label)),
        _ => prime::equal(answer, &bare_label(label)),
    }
}

/// The answer of a label that is a whole solution.
fn bare_label(label: &str) -> String {
    last_boxes(label).first().map_or_else(|| label.trim().to_owned(), |text| (*text).to_owned())
}

/// The number after the last `#### `, without commas: a sign, digits, points.
fn hash_number(text: &str) -> Option<String> {
    text.rmatch_indices("#### ").find_map(|(at, mark)| {
        let after = &text[at + mark.len()..];
        let sign = usize::from(after.starts_with('-'));
        let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let end = after[sign..].find(|c| !part(c)).unwrap_or(after.len() - sign) + sign;
        (end > sign).then(|| after[..end].replace(',', ""))
    })
}

fn single_letter(text: &str) -> Option<char> {
    let mut letters = text.chars();
    let letter = letters.next()?.to_ascii_uppercase();
    (letters.next().is_none() && ('A'..='J').contains(&letter)).then_some(letter)
}

/// The letter of a marked answer; else the last letter in brackets or bold, or the one that opens the response.
fn chosen(response: &str) -> Option<char> {
    let folded = fold(response);
    let marked = find(&folded, AnswerFrom::Formula).into_iter().next();
    if let Some(found) = marked {
        let letter = choice(&found.text).or_else(|| single_letter(&plain(&found.text)));
        if letter.is_some() {
            return letter;
        }
    }
    let bytes = folded.as_bytes();
    let bracketed = bytes.windows(3).rev().find_map(|window| match window {
        [b'(', letter @ b'A'..=b'J', b')'] | [b'*', letter @ b'A'..=b'J', b'*'] => {
            Some(char::from(*letter))
        }
        _ => None,
    });
    bracketed.or_else(|| match folded.trim_start().as_bytes() {
        [letter @ b'A'..=b'J', b'.' | b')' | b':', ..] | [letter @ b'A'..=b'J'] => {
            Some(char::from(*letter))
        }
        _ => None,
    })
}

/// Whether two answers are equal as mathematics under these settings.
fn same_value(answer: &str, label: &str, settings: &Settings) -> bool {
    let (answer, label) = (fold(answer), fold(label));
    match (parse_mathematics(&label), parse_mathematics(&answer)) {
        (Ok(label), Ok(answer)) => compare(&label, &answer, settings).is_some(),
        _ => false,
    }
}
