//! From a response and a label to a verdict and the reason for it.

use crate::compare::compare;
use crate::difference::difference;
use crate::equal::Equal;
use crate::extract::{Candidate, Source, find, find_inside, last_answer, last_boxes};
use crate::fold::fold;
use crate::join::{is_bound, stated_at_start, stated_first};
use crate::label::{Label, Reading, lettered};
use crate::parse::{parse, parse_all, parse_mathematics};
use crate::profiles;
use crate::rereading::reread;
use crate::settings::{AnswerFrom, Boxes, Profile, Settings};
use crate::show::show;
use crate::unreadable::Unreadable;
use crate::value::{Value, choice, plain, written};
use crate::verdict::{Verdict, Verified, shown};

#[must_use]
pub fn verify(response: &str, labels: &[Label], settings: &Settings) -> Verified {
    let response = without_special_tokens(response);
    match settings.profile {
        Profile::Assay => verify_by_rules(response, labels, settings),
        Profile::MathVerify => {
            let rules = Settings {
                decimals: settings.decimals.or(Some(6)),
                lists_as_points: true,
                ..*settings
            };
            verify_by_rules(response, labels, &rules)
        }
        profile => profiles::verify(profile, response, labels),
    }
}

/// A response without the special tokens of models at its end: `<|im_end|>`, `</s>`, `<eos>`.
fn without_special_tokens(response: &str) -> &str {
    let mut rest = response.trim_end();
    let mut kept = response;
    while let Some(before) = before_special_token(rest) {
        rest = before.trim_end();
        kept = rest;
    }
    kept
}

fn before_special_token(text: &str) -> Option<&str> {
    let plain = ["</s>", "<eos>"].into_iter().find_map(|token| text.strip_suffix(token));
    plain.or_else(|| {
        [("<|", "|>"), ("<｜", "｜>")].into_iter().find_map(|(open, close)| {
            let (before, name) = text.strip_suffix(close)?.rsplit_once(open)?;
            let named = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '▁'));
            // `<|x|>` may be mathematics.
            (named && name.len() > 1).then_some(before)
        })
    })
}

fn verify_by_rules(response: &str, labels: &[Label], settings: &Settings) -> Verified {
    let response = fold(response);
    let mut from = settings.answer_from;
    if settings.strict && from == AnswerFrom::Anywhere {
        from = AnswerFrom::Formula;
    }
    let candidates = find(&response, from);
    if candidates.is_empty() {
        return Verified {
            verdict: Verdict::NoAnswer,
            boxed: false,
            explanation: why_none(&response, from).into(),
        };
    }
    let boxed = candidates.iter().any(|found| found.source == Source::Boxed);
    if settings.boxes == Boxes::Agree
        && let Some(explanation) = contradiction(&response, settings)
    {
        return Verified { verdict: Verdict::Contradictory, boxed, explanation };
    }
    let mut decided = None;
    for found in candidates {
        let judged = judge_sentence(found, labels, from, settings);
        let unparsable = judged.verdict == Verdict::Unparsable;
        decided = Some(judged);
        if !unparsable {
            break;
        }
    }
    let (verdict, explanation) = match decided {
        Some(judged) => (judged.verdict, judged.explanation),
        None => (Verdict::NoAnswer, String::new()),
    };
    Verified { verdict, boxed, explanation }
}

fn why_none(response: &str, from: AnswerFrom) -> &'static str {
    match from {
        _ if response.contains("\\boxed") || response.contains("\\fbox") => {
            "the last \\boxed is not closed"
        }
        AnswerFrom::Anywhere => "the response holds no answer",
        AnswerFrom::Box => "the response has no \\boxed answer",
        AnswerFrom::Mark | AnswerFrom::Formula => "the response marks no answer",
    }
}

/// Why the boxes of a response do not agree.
fn contradiction(response: &str, settings: &Settings) -> Option<String> {
    let (last, count) = last_answer(response)?;
    let boxes = last_boxes(response);
    let value = parse(&last);
    let other = boxes.iter().skip(count).find(|text| match (&value, parse(text)) {
        (Ok(value), Ok(other)) => compare(value, &other, settings).is_none(),
        _ => written(text) != written(&last),
    })?;
    Some(format!("the boxes `{}` and `{}` do not agree", shown(other), shown(&last)))
}

struct Judgement {
    verdict: Verdict,
    explanation: String,
}

/// Judges what was found, and where that is prose, the formula or number in it.
fn judge_sentence(
    found: Candidate,
    labels: &[Label],
    from: AnswerFrom,
    settings: &Settings,
) -> Judgement {
    let judged = judge(&found, labels, settings);
    // `The answer is 18!` may be an exclamation.
    if !judged.verdict.is_correct()
        && matches!(found.source, Source::Marked(_))
        && let Some(number) = found.text.strip_suffix('!')
        && number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b',' | b'.'))
    {
        let number = Candidate { text: number.to_owned().into(), source: found.source };
        return judge(&number, labels, settings);
    }
    // The label may be these words themselves.
    if judged.verdict != Verdict::CorrectText
        && let Some(start) = at_start(&found, from)
    {
        let start = Candidate { text: start.to_owned().into(), source: found.source };
        return judge(&start, labels, settings);
    }
    let wordy = matches!(found.source, Source::Marked(_) | Source::Formula);
    if judged.verdict == Verdict::Unparsable
        && wordy
        && !denies(&found.text)
        && let Some(inner) = find_inside(&found.text)
        && inner.text != found.text
        && (from == AnswerFrom::Anywhere || inner.source == Source::Formula)
    {
        let before = stated_first(&found.text).filter(|text| parse_mathematics(text).is_ok());
        let first =
            before.map(|text| Candidate { text: text.to_owned().into(), source: found.source });
        let bound = inner.source == Source::LastNumber && is_bound(&found.text, &inner.text);
        return match first {
            None if bound => judged,
            first => judge(first.as_ref().unwrap_or(&inner), labels, settings),
        };
    }
    judged
}

/// The value with which marked prose begins.
fn at_start<'a>(found: &'a Candidate, from: AnswerFrom) -> Option<&'a str> {
    let marked = matches!(found.source, Source::Marked(_));
    let start = stated_at_start(&found.text).filter(|_| marked)?;
    let wanted = from == AnswerFrom::Anywhere || start.starts_with(['$', '\\']);
    let prose = || parse_all(&found.text).is_err();
    (wanted && prose() && parse_mathematics(start).is_ok()).then_some(start)
}

/// Whether a sentence says only what the answer is not: `not 5`, but neither `5, not 6` nor `not 5 but 6`.
fn denies(sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is = |word: &str, one: &str| word.eq_ignore_ascii_case(one);
    words.next().is_some_and(|word| is(word, "not") || is(word, "neither"))
        && !words.any(|word| is(word, "but"))
}

fn judge(found: &Candidate, labels: &[Label], settings: &Settings) -> Judgement {
    let text = found.text.as_ref();
    let took = format!("took `{}` from {}", shown(text), found.source.describe());
    let answer = parse_mathematics(text).or_else(|unreadable| {
        // `(D) 26` is 26 for labels without a letter.
        let lettered = lettered(text).filter(|_| labels.iter().all(|label| label.letter.is_none()));
        lettered.and_then(|(_, rest)| parse_mathematics(rest).ok()).ok_or(unreadable)
    });
    let words = plain(text);
    let read = match &answer {
        Ok(value) => format!(", read as {}", show(value)),
        Err(_) => String::new(),
    };
    let mut readable = false;
    let mut compared_as_text = false;
    for label in labels {
        let value = match &label.reading {
            Reading::Value(value) => Some(&**value),
            Reading::Text(_) => None,
        };
        let equal = match value {
            _ if chooses(text, label, settings) || are_choices(text, &label.text) => {
                Some(Equal::AsChoice)
            }
            None => {
                readable = true;
                compared_as_text = true;
                (written(text) == written(&label.text)).then_some(Equal::AsText)
            }
            Some(Value::Choice(letter)) => {
                let bare = words.len() == 1 && words.eq_ignore_ascii_case(&letter.to_string());
                let chosen = choice(text).or_else(|| bare.then_some(*letter));
                readable |= chosen.is_some() || answer.is_ok();
                (chosen == Some(*letter)).then_some(Equal::AsChoice)
            }
            Some(Value::Text(label)) => {
                readable = true;
                let same = *label == words || is_missing_limit(label) && is_missing_limit(&words);
                (same || opens_with(text, label)).then_some(Equal::AsText)
            }
            Some(value) => {
                readable |= answer.is_ok();
                let alike = || words == plain(&label.text);
                match &answer {
                    Ok(_) if are_letters(text, &label.text) => alike().then_some(Equal::AsText),
                    Ok(answer) => compare(value, answer, settings)
                        .or_else(|| reread((&label.text, value), (text, answer), settings)),
                    // `\text{odd}` is what the label `odd`, a product of variables, says.
                    Err(_) => (is_word(&label.text) && alike()).then_some(Equal::AsText),
                }
            }
        };
        if let Some(equal) = equal {
            let against = against(label);
            let explanation = format!("{took}{read}; {against}; {}", equal.describe());
            return Judgement { verdict: correct(equal, found.source), explanation };
        }
    }
    match (readable, answer) {
        (false, Err(unreadable)) => Judgement {
            verdict: Verdict::Unparsable,
            explanation: format!("{took}; it cannot be read: {}", unreadable.0),
        },
        (_, answer) => {
            let verdict = if compared_as_text { Verdict::WrongText } else { Verdict::Wrong };
            Judgement {
                verdict,
                explanation: format!("{took}{read}; {}", why_wrong(&answer, labels)),
            }
        }
    }
}

/// Whether an answer names the letter before the answer of a label, and no other answer beside it.
fn chooses(text: &str, label: &Label, settings: &Settings) -> bool {
    let is_whole =
        |(letter, rest)| Some(letter) == label.letter && plain(rest) == plain(&label.text);
    if lettered(text).is_some_and(is_whole) {
        return true;
    }
    if label.letter.is_none() || choice(text) != label.letter {
        return false;
    }
    let beside = lettered(text).and_then(|(_, rest)| parse(rest).ok());
    match (&label.reading, beside) {
        (Reading::Value(value), Some(beside)) => compare(value, &beside, settings).is_some(),
        _ => true,
    }
}

/// Whether a text is one word, as a product of variables is too.
fn is_word(text: &str) -> bool {
    let bare = text.trim_matches(['$', ' ', '.']);
    bare.len() > 1 && bare.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Whether both are capitals whose order counts: `SAS`, `HTH`, `XIV`, rather than products of variables.
fn are_letters(text: &str, label: &str) -> bool {
    let capitals = |text: &str| {
        let bare = text.trim_matches(['$', ' ', '.']);
        // `CD` is a line, `IX` a number.
        let numeral =
            bare.bytes().all(|byte| b"IVXLCDM".contains(&byte)) && bare.contains(['I', 'V', 'X']);
        bare.bytes().all(|byte| byte.is_ascii_uppercase())
            && bare.len() > if numeral { 1 } else { 2 }
    };
    capitals(text) && capitals(label)
}

/// Whether an answer lists the letters of several choices that a label has in one word: `A, C, D` for `ACD`.
fn are_choices(text: &str, label: &str) -> bool {
    let chosen = label.trim_matches(['$', ' ', '.']).as_bytes();
    let letters = chosen.iter().all(|byte| (b'A'..=b'H').contains(byte));
    if chosen.len() < 2 || !letters || !chosen.is_sorted_by(|a, b| a < b) {
        return false;
    }
    let listed = plain(text).replace("and", ",");
    let bare = |part: &str| part.trim_matches(['(', ')']).to_ascii_uppercase();
    let mut listed: Vec<_> = listed.split(',').filter(|part| !part.is_empty()).map(bare).collect();
    listed.sort();
    listed.len() == chosen.len() && listed.concat().as_bytes() == chosen
}

/// How an answer differs from the first label.
fn why_wrong(answer: &Result<Value, Unreadable>, labels: &[Label]) -> String {
    let against = labels.first().map_or_else(String::new, against);
    let others = match labels.len() {
        0 | 1 => String::new(),
        count => format!(" (nor any of {} others)", count - 1),
    };
    let value = labels.first().and_then(|label| match &label.reading {
        Reading::Value(value) => Some(&**value),
        Reading::Text(_) => None,
    });
    let why = match (value, answer) {
        (Some(Value::Choice(_)), _) => "the choices differ".to_owned(),
        (Some(Value::Text(_)) | None, _) => "the texts differ".to_owned(),
        (Some(value), Ok(answer)) => difference(value, answer),
        (Some(_), Err(unreadable)) => format!("it cannot be read: {}", unreadable.0),
    };
    format!("{against}; {why}{others}")
}

fn against(label: &Label) -> String {
    let text = shown(&label.text);
    match &label.reading {
        Reading::Value(value) => format!("the label `{text}` is read as {}", show(value)),
        Reading::Text(why) => format!("the label `{text}` is compared as text ({why})"),
    }
}

/// Whether words say that a limit or value does not exist.
fn is_missing_limit(words: &str) -> bool {
    matches!(words, "dne" | "d.n.e" | "doesnotexist" | "thelimitdoesnotexist" | "limitdoesnotexist")
}

/// `Yes, because ...` and `No it is not` for a label that is one of four words.
fn opens_with(answer: &str, word: &str) -> bool {
    if !matches!(word, "yes" | "no" | "true" | "false") {
        return false;
    }
    let end = answer.find(|c: char| !c.is_alphanumeric()).unwrap_or(answer.len());
    let (first, rest) = answer.split_at(end);
    let prose = rest.trim_start().starts_with(|c: char| c.is_alphabetic());
    let others = ["yes", "no", "true", "false"].into_iter().any(|other| {
        rest.split(|c: char| !c.is_alphabetic()).any(|found| found.eq_ignore_ascii_case(other))
    });
    let names = first.eq_ignore_ascii_case(word) && !others;
    // `No idea` is no answer.
    let knows = !rest.trim_start().starts_with("idea");
    names && knows && (prose || rest.starts_with([',', '.', ';', ':', '!']))
}

fn correct(equal: Equal, source: Source) -> Verdict {
    match source {
        Source::LastNumber => Verdict::CorrectLastNumber,
        _ if equal.is_text() => Verdict::CorrectText,
        _ if equal.is_numeric() => Verdict::CorrectNumeric,
        _ => Verdict::CorrectExact,
    }
}
