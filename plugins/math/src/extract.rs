//! Finds the final answer in a response, in one pass from front to back.
//!
//! In this order: the last `\boxed` (or `\fbox`) with those joined to it; the text after the last mark (`####`,
//! `Answer:`, "answer is", `A:` at the start of a line); the whole response where it is nothing but an answer; the last formula
//! (`$...$`, `\(...\)`); the last number with the formula it stands in. A "final answer is" after the last box
//! comes before it. A box that is never closed is a response cut short: then there is no answer, rather than a
//! part of one. Text before `</think>` counts only where no text follows it; a thought that never ends is cut short too,
//! and holds no more than what it boxes or marks. Where a closed `<answer>` holds anything, the last one's content is the
//! response.

mod last_number;

use std::borrow::Cow;

use crate::join::{is_remark, joins_boxes, joins_formulas, naked, states_value};
use crate::limits;
use crate::names::group_end;
use crate::parse::{parse_all, parse_mathematics};
use crate::settings::AnswerFrom;
use crate::value::choice;

use last_number::{LastNumber, number_length};

/// The place in which an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Boxed,
    /// The text after a mark, up to the end of its sentence.
    Marked(&'static str),
    /// The response is nothing but an answer.
    Bare,
    Formula,
    LastNumber,
}

impl Source {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Boxed => "the last \\boxed",
            Self::Marked(mark) => mark,
            Self::Bare => "the whole response",
            Self::Formula => "the last formula",
            Self::LastNumber => "the last number",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) source: Source,
}

impl<'a> Candidate<'a> {
    fn new(text: &'a str, source: Source) -> Self {
        Self { text: Cow::Borrowed(text), source }
    }
}

/// The answers of a response, the best first; a later one counts only where all before are no mathematics.
pub(crate) fn find(response: &str, from: AnswerFrom) -> Vec<Candidate<'_>> {
    let (response, from) = match response.rsplit_once("</think>") {
        Some((before, after)) if after.trim().is_empty() => (before, from),
        Some((_, after)) => (after, from),
        None if response.contains("<think>") => (response, from.min(AnswerFrom::Mark)),
        None => (response, from),
    };
    match tagged(response) {
        Some(answer) => find_tagged(answer, from),
        None => find_in(response, from),
    }
}

/// The content of the last closed `<answer>`.
fn tagged(response: &str) -> Option<&str> {
    let last = |text: &str, tag: &str| {
        text.rmatch_indices('<').map(|(at, _)| at).find(|at| text[*at..].starts_with(tag))
    };
    let before = &response[..last(response, "</answer>")?];
    let content = &before[last(before, "<answer>")? + "<answer>".len()..];
    Some(content.trim()).filter(|content| !content.is_empty())
}

/// The box or mark in a tag, which is a mark itself.
fn find_tagged(content: &str, from: AnswerFrom) -> Vec<Candidate<'_>> {
    let marks = scan(content);
    if !marks.boxes.is_empty() || marks.mark.is_some() || from == AnswerFrom::Box {
        return find_in(content, from);
    }
    vec![Candidate::new(content, Source::Marked("the last <answer>"))]
}

fn find_in(response: &str, from: AnswerFrom) -> Vec<Candidate<'_>> {
    let marks = scan(response);
    let marked = marks.mark.as_ref().and_then(|mark| {
        let text = sentence(&response[mark.end..]);
        (!text.is_empty()).then(|| (Candidate::new(text, Source::Marked(mark.name)), mark))
    });
    if let Some(last) = marks.boxes.last() {
        let Some((boxed, _)) = joined_boxes(response, &marks.boxes) else { return Vec::new() };
        let boxed = Candidate { text: boxed, source: Source::Boxed };
        return match marked {
            Some((found, mark))
                if mark.last_word
                    && mark.end > *last
                    && from != AnswerFrom::Box
                    && states_answer(&found.text) =>
            {
                vec![found, boxed]
            }
            _ => vec![boxed],
        };
    }
    match (from, marked) {
        (AnswerFrom::Box, _) => Vec::new(),
        (_, Some((found, _))) => vec![found],
        (AnswerFrom::Mark, None) => Vec::new(),
        (_, None) => {
            let last = || marks.formula_or_number(response, from);
            let bare = bare(response);
            // `B. 42` is 42 for a label that is no choice.
            let more =
                bare.as_ref().filter(|found| choice(&found.text).is_some()).and_then(|_| last());
            bare.or_else(last).into_iter().chain(more).collect()
        }
    }
}

/// Whether a sentence after a box gives an answer of its own; "the final answer is correct" does not.
fn states_answer(sentence: &str) -> bool {
    !scan(sentence).formulas.is_empty()
        || parse_mathematics(sentence).is_ok()
        || choice(sentence).is_some()
}

/// The contents of the last boxes of a response, the last one first. Empty where the last is not closed.
pub(crate) fn last_boxes(response: &str) -> Vec<&str> {
    let marks = scan(response);
    marks
        .boxes
        .iter()
        .rev()
        .map_while(|start| box_content(&response[*start..]))
        .map(|(text, _)| text)
        .collect()
}

/// The answer of the last boxes that make one, and how many those are.
pub(crate) fn last_answer(response: &str) -> Option<(Cow<'_, str>, usize)> {
    joined_boxes(response, &scan(response).boxes)
}

/// The last formula of a sentence, or its last number where that is what it states.
pub(crate) fn find_inside(sentence: &str) -> Option<Candidate<'_>> {
    scan(sentence).formula_or_number(sentence, AnswerFrom::Anywhere)
}

/// A response of one line that is nothing but an answer.
fn bare(response: &str) -> Option<Candidate<'_>> {
    let text = response.trim();
    let short = text.len() <= limits::BARE_BYTES_MAX && !text.contains('\n');
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 2).count();
    // `B. 42` and `Option B`; `A man` begins with an article.
    let named = |text: &str| text.get(1..).is_some_and(|after| after.starts_with(['.', ')', ':']));
    let chosen = || named(text.trim_start_matches('(')) && choice(text).is_some();
    let option = || text.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("option "));
    let answers = || parse_all(text).is_ok() || option() && choice(text).is_some();
    (short && words <= limits::UNIT_WORDS_MAX && (answers() || chosen()))
        .then(|| Candidate::new(text, Source::Bare))
}

/// The last box with those that make one answer with it, and how many. `None` where it is never closed.
fn joined_boxes<'a>(response: &'a str, boxes: &[usize]) -> Option<(Cow<'a, str>, usize)> {
    let (&last, before) = boxes.split_last()?;
    let (text, _) = box_content(&response[last..])?;
    let mut parts = vec![text];
    let mut next = last;
    for &start in before.iter().rev() {
        let command = response[..next].rfind('\\').unwrap_or(next);
        if start > command {
            break;
        }
        let slice = &response[start..command];
        let Some((text, end)) = box_content(slice) else { break };
        if !joins_boxes(&slice[end..]) {
            break;
        }
        parts.push(text);
        next = start;
    }
    if parts.iter().all(|part| *part == text) {
        return Some((Cow::Borrowed(text), parts.len()));
    }
    parts.reverse();
    Some((Cow::Owned(parts.join(", ")), parts.len()))
}

struct Mark {
    /// The place after it.
    end: usize,
    name: &'static str,
    /// Whether it says "final answer is".
    last_word: bool,
}

/// The last of each kind, as byte offsets.
#[derive(Default)]
struct Marks {
    /// The places after `\boxed`, at most [`limits::PARTS_MAX`].
    boxes: Vec<usize>,
    mark: Option<Mark>,
    /// The formulas; [`limits::PARTS_MAX`] at most.
    formulas: Vec<(usize, usize)>,
    number: Option<LastNumber>,
}

impl Marks {
    fn formula_or_number<'a>(&self, text: &'a str, from: AnswerFrom) -> Option<Candidate<'a>> {
        let formula = self.formulas.last().copied();
        let formula = formula.filter(|(start, end)| !text[*start..*end].trim().is_empty());
        let numbers = from == AnswerFrom::Anywhere;
        if let Some((start, end)) = formula {
            // "the largest $k$ is 12" states 12.
            if let Some(number) = self.number.filter(|number| numbers && number.start > end)
                && states_value(&text[end..number.start])
            {
                return Some(Candidate::new(number.text(text), Source::LastNumber));
            }
            let mut first = start;
            let earlier = self.formulas.iter().rev().skip(1);
            for &(before, before_end) in earlier {
                if !joins_formulas(&text[before_end..first]) {
                    break;
                }
                first = before;
            }
            return Some(Candidate::new(text[first..end].trim(), Source::Formula));
        }
        let number = self.number.filter(|_| numbers)?;
        let run = naked(text, number.start, number.end);
        let run = run.filter(|run| parse_mathematics(run).is_ok());
        Some(Candidate::new(run.unwrap_or_else(|| number.text(text)), Source::LastNumber))
    }
}

fn keep_last<T>(list: &mut Vec<T>, item: T) {
    if list.len() == limits::PARTS_MAX {
        list.remove(0);
    }
    list.push(item);
}

fn scan(text: &str) -> Marks {
    let bytes = text.as_bytes();
    let mut marks = Marks::default();
    let mut formula_start: Option<usize> = None;
    let mut remark = None;
    let mut at = 0;
    // Only ASCII bytes and the first of a character are looked for, so every offset kept is a character boundary.
    while at < bytes.len() {
        let rest = &bytes[at..];
        match bytes[at] {
            b'\\' => {
                let box_name = [&b"\\boxed"[..], b"\\fbox"].into_iter().find(|name| {
                    rest.starts_with(name)
                        && !rest.get(name.len()).is_some_and(u8::is_ascii_alphabetic)
                });
                if let Some(name) = box_name {
                    keep_last(&mut marks.boxes, at + name.len());
                }
                match rest.get(1) {
                    Some(b'(' | b'[') => formula_start = Some(at + 2),
                    Some(b')' | b']') => {
                        if let Some(start) = formula_start.take() {
                            keep_last(&mut marks.formulas, (start, at));
                        }
                    }
                    _ => {}
                }
                // The character after a backslash is part of the command: `\$` opens nothing.
                at += 1 + usize::from(
                    rest.get(1).is_some_and(|byte| byte.is_ascii() && *byte != b'\\'),
                );
                continue;
            }
            b'$' => {
                formula_start = match formula_start {
                    Some(_) if is_amount_or_opens(bytes, at) => Some(at + 1),
                    Some(start) => {
                        if start < at {
                            keep_last(&mut marks.formulas, (start, at));
                        }
                        // `$$` closes once.
                        (start == at).then_some(at + 1)
                    }
                    None => Some(at + 1),
                };
            }
            b'\n' if rest.get(1) == Some(&b'\n') => formula_start = None,
            b'#' if rest.starts_with(b"####") && !is_heading(&rest[4..]) => {
                marks.mark = Some(Mark { end: at + 4, name: "the last ####", last_word: false });
            }
            b':' | b'=' | b's' | b'S' => {
                if let Some(name) = mark_ending_at(bytes, at) {
                    let is = bytes[at].eq_ignore_ascii_case(&b's');
                    let last_word = is && ends_with_word(&bytes[..at], b"final answer i");
                    let mark = Some(Mark { end: at + 1, name, last_word });
                    match is && is_remark(&text[at + 1..]) {
                        true => remark = mark,
                        false => marks.mark = mark,
                    }
                }
            }
            0xE6 | 0xE7 => {
                if let Some(end) = chinese_mark(&text[at..]) {
                    let name = "the last mark in Chinese";
                    marks.mark = Some(Mark { end: at + end, name, last_word: false });
                }
            }
            b'0'..=b'9' => {
                let end = at + number_length(rest);
                // `X2` is a name, and the 2 of `x^{2}` belongs to what stands before it.
                let before = trim_end(&bytes[..at], b"{").last();
                if !before
                    .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'^' | b'_'))
                {
                    marks.number = Some(LastNumber::read(bytes, at, end, marks.number));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    if marks.formulas.is_empty() && marks.number.is_none() {
        marks.mark = marks.mark.or(remark);
    }
    marks
}

/// Whether a dollar sign after another closes no formula: it stands before an amount, or opens a formula, so that the
/// other was that of an amount.
fn is_amount_or_opens(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let Some(after) = bytes.get(at + 1) else { return false };
    after.is_ascii_digit() && before != Some(b'$')
        || before.is_some_and(|byte| byte == b' ')
            && (after.is_ascii_alphabetic() || matches!(after, b'\\' | b'(' | b'-'))
}

/// `#### Step 3` is a heading of Markdown; `#### 18`, `#### x = 5` and `#### yes` are answers.
///
/// Reads no further than to the end of the first word and the spaces after it: looking for the end of the line at
/// every mark would take the square of the line's length.
fn is_heading(after: &[u8]) -> bool {
    let spaces = |bytes: &[u8]| {
        bytes.iter().take_while(|byte| byte.is_ascii_whitespace() && **byte != b'\n').count()
    };
    let line = &after[spaces(after)..];
    let letters = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let rest = &line[letters..];
    let continues = !matches!(rest[spaces(rest)..].first(), None | Some(b'\n'));
    letters > 2 && continues && matches!(rest[0], b' ' | b':')
}

/// The mark whose last byte stands at `at`.
fn mark_ending_at(bytes: &[u8], at: usize) -> Option<&'static str> {
    let before = &bytes[..at];
    if bytes[at] == b's' || bytes[at] == b'S' {
        // Nearly every s ends here.
        if !matches!(before, [.., b' ', b'i' | b'I']) {
            return None;
        }
        let names = [&b"answer i"[..], b"correct option i", b"correct choice i"];
        let name = names.into_iter().find(|name| ends_with_word(before, name));
        let ends = name.is_some_and(|name| !is_supposed(&before[..at - name.len()]))
            && !next_is_letter(bytes, at);
        return ends.then_some("the last \"answer is\"");
    }
    let trimmed = trim_end(before, b"* ");
    if ends_with_word(trimmed, b"answer") {
        return Some("the last \"Answer:\"");
    }
    // "Plan A:" marks nothing.
    let line = trimmed.strip_suffix(b"A").filter(|_| bytes[at] == b':')?;
    let before = trim_end(line, b"*#> \t");
    (before.is_empty() || before.ends_with(b"\n")).then_some("the last A:")
}

/// Whether what follows is only supposed to be the answer: "suppose the answer is 5".
fn is_supposed(before: &[u8]) -> bool {
    let trimmed = trim_end(before, b" ");
    let before = trim_end(trimmed.strip_suffix(b"the").unwrap_or(trimmed), b" ");
    let words = [&b"suppose"[..], b"assume", b"if", b"whether", b"suppose that", b"assume that"];
    words.iter().any(|word| ends_with_word(before, word))
}

/// The length of "the answer is" or "so one chooses" in Chinese, with which a text begins.
fn chinese_mark(text: &str) -> Option<usize> {
    let spaces = |text: &str| text.len() - text.trim_start_matches([' ', '*']).len();
    let (name, states) = match text.strip_prefix("答案") {
        Some(_) => ("答案", false),
        None => (text.strip_prefix("故选").map(|_| "故选")?, true),
    };
    let at = name.len() + spaces(&text[name.len()..]);
    let says = ["应为", "是", "为", ":"].into_iter().find(|says| text[at..].starts_with(says));
    match says {
        Some(says) => Some(at + says.len()),
        None => states.then_some(at),
    }
}

fn next_is_letter(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
}

fn trim_end<'a>(mut bytes: &'a [u8], set: &[u8]) -> &'a [u8] {
    while let [rest @ .., last] = bytes
        && set.contains(last)
    {
        bytes = rest;
    }
    bytes
}

fn ends_with_word(bytes: &[u8], word: &[u8]) -> bool {
    let Some(start) = bytes.len().checked_sub(word.len()) else { return false };
    let bounded = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
    bounded && bytes[start..].eq_ignore_ascii_case(word)
}

/// The content of the braces after `\boxed`, nested ones included; without braces, the text up to the next
/// white space; and where the box ends. `None` if the braces never close.
fn box_content(text: &str) -> Option<(&str, usize)> {
    let after = text.trim_start_matches([' ', '\t', '*']);
    let Some(inner) = after.strip_prefix('{') else {
        let end = after.find(|c: char| c.is_whitespace() || c == '$').unwrap_or(after.len());
        let content = trim(&after[..end]);
        return (!content.is_empty()).then_some((content, text.len() - after.len() + end));
    };
    let end = group_end(inner)?;
    Some((inner[..end].trim(), text.len() - inner.len() + end + 1))
}

/// The text after a mark, up to the end of the sentence or line; an empty first line is skipped. A displayed
/// formula counts whole.
fn sentence(after: &str) -> &str {
    let decoration = |c: char| c.is_whitespace() || matches!(c, ':' | '*' | '=' | '_' | '`');
    let after = after.trim_start_matches(decoration);
    for (open, close) in [("\\[", "\\]"), ("$$", "$$")] {
        let inner = after.strip_prefix(open).and_then(|rest| rest.split_once(close));
        if let Some((formula, _)) = inner {
            return trim(formula);
        }
    }
    let bytes = after.as_bytes();
    let end = (0..bytes.len()).find(|&at| match bytes[at] {
        b'\n' => true,
        b'.' => bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace),
        _ => false,
    });
    let text = trim(&after[..end.unwrap_or(after.len())]);
    // The sign after a formula ends a sentence; inside it is a factorial.
    let exclaimed = text.trim_end_matches(['!', ' ', '*']);
    if exclaimed.ends_with('$') || exclaimed.ends_with("\\)") { trim(exclaimed) } else { text }
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | '_'))
        .trim_end_matches(['.', ',', ';', ' '])
}

#[cfg(test)]
mod tests;
