//! Reads the text between and around answers: whether several boxes or formulas make one answer, whether a sentence
//! states a value, and how far a formula without delimiters reaches.

use crate::limits;

/// Words after which a second box replaces the first.
const SECOND_THOUGHTS: &[&str] = &[
    "but",
    "not",
    "no",
    "wait",
    "actually",
    "rather",
    "instead",
    "correct",
    "correctly",
    "corrected",
    "wrong",
    "sorry",
    "hmm",
    "is",
    "then",
    "so",
    "thus",
    "hence",
    "therefore",
    "gives",
    "simplifies",
    "equals",
    "becomes",
    "final",
    "answer",
];

/// Whether the text between two boxes joins them to one answer: `\boxed{1}, \boxed{2}`, `\boxed{1} and
/// \boxed{2}`, `\boxed{3} cats and \boxed{4} dogs`.
pub(crate) fn joins_boxes(between: &str) -> bool {
    joins(between, 3)
}

/// Whether the text between two formulas joins them: `$1$ and $2$`. A comma alone does not: formulas follow each
/// other in prose.
pub(crate) fn joins_formulas(between: &str) -> bool {
    between.split(|c: char| !c.is_alphabetic()).any(|word| matches!(word, "and" | "or"))
        && joins(between, 0)
}

fn joins(between: &str, others_max: usize) -> bool {
    if between.len() > 60 || between.contains("\n\n") || between.contains(['?', '!', '#']) {
        return false;
    }
    let ends_sentence =
        between.as_bytes().windows(2).any(|pair| pair[0] == b'.' && pair[1].is_ascii_whitespace());
    if ends_sentence || between.trim().starts_with('.') {
        return false;
    }
    let mut connected = between.contains([',', ';']);
    let (mut others, mut command) = (0, false);
    let mut rest = between;
    while let Some(start) = rest.find(|c: char| c.is_alphabetic()) {
        command |= rest[..start].ends_with('\\');
        let end =
            rest[start..].find(|c: char| !c.is_alphabetic()).map_or(rest.len(), |end| start + end);
        let word = &rest[start..end];
        rest = &rest[end..];
        if std::mem::take(&mut command) {
            match word {
                "quad" | "qquad" | "text" | "textrm" | "mathrm" | "land" | "lor" => {}
                _ => return false,
            }
        } else if matches!(word, "and" | "or") {
            connected = true;
        } else if SECOND_THOUGHTS.contains(&word.to_ascii_lowercase().as_str()) {
            return false;
        } else {
            others += 1;
        }
    }
    let relates = between.contains('=') && !connected;
    others <= others_max && (connected || others == 0) && !relates
}

/// Whether the text after "answer is" only speaks of an answer given before: "this answer is correct".
///
/// Reads a bounded part, so that many marks in one line cost no more than its length.
pub(crate) fn is_remark(after: &str) -> bool {
    let bytes = after.as_bytes();
    let near = &bytes[..bytes.len().min(limits::REMARK_BYTES_MAX)];
    let end = match near.iter().position(|byte| matches!(byte, b'\n' | b'.' | b'!')) {
        Some(end) => end,
        None if near.len() == bytes.len() => bytes.len(),
        None => return false,
    };
    let mut words = after[..end].split(' ').filter(|word| !word.is_empty());
    let mut word = words.next();
    if matches!(word, Some("indeed" | "also")) {
        word = words.next();
    }
    let Some(word) = word else { return false };
    let judged = matches!(
        word.trim_end_matches([',', ';']),
        "correct" | "helpful" | "useful" | "clear" | "reasonable" | "verified" | "confirmed"
    );
    // "correct to two places: 3.14" and "correct choice B" give one.
    judged
        && words.all(|word| {
            word.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b',' | b'\''))
                && (word == "I" || word.len() > 1 || !word.as_bytes()[0].is_ascii_uppercase())
        })
}

/// Whether the text before a number says that something is this number.
pub(crate) fn states_value(before: &str) -> bool {
    let before =
        before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '$' | '\\' | '*' | '('));
    if before.ends_with(['=', ':']) {
        return true;
    }
    let start = before
        .rfind(|c: char| !c.is_alphabetic())
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    matches!(&before[start..], "is" | "are" | "equals" | "be" | "was" | "by" | "exactly")
}

/// The part of a sentence before it gives a reason: `18` of `18, since she sells 9`.
pub(crate) fn stated_first(sentence: &str) -> Option<&str> {
    let reasons = [" since ", " because ", " as ", " where ", " which "];
    let end = reasons.iter().filter_map(|reason| sentence.find(reason)).min()?;
    let stated = sentence[..end].trim_end_matches([',', ';', ' ']);
    (!stated.is_empty()).then_some(stated)
}

/// The formula without delimiters round the number from `start` to `end`, where it is more than that number.
pub(crate) fn naked(text: &str, start: usize, end: usize) -> Option<&str> {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    if line_end - line_start > limits::ANSWER_BYTES_MAX {
        return None;
    }
    let line = &text[line_start..line_end];
    let (mut first, mut last) = (None, None);
    for (at, word) in words(line) {
        let at = line_start + at;
        match (is_mathematics(word), at + word.len() > start) {
            (true, _) => {
                first = first.or(Some(at));
                last = Some(at + word.len());
            }
            (false, true) => break,
            (false, false) => (first, last) = (None, None),
        }
    }
    let run = text[first?..last?]
        .trim_end_matches(['.', ',', ';', ':', ' '])
        .trim_start_matches([':', ' ']);
    // `12 m^2` is measured.
    let unit = run.find("m^").is_some_and(|at| {
        run[..at].trim_end_matches([' ', 'c', 'k']).ends_with(|c: char| c.is_ascii_digit())
    });
    let written = (run.contains(['\\', '^', '[', '<', '>'])
        || (run.contains('(') && run.contains(',')))
        && !unit;
    (written && last? >= end).then_some(run)
}

/// Words by white space outside braces, with their places.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut depth = 0_i32;
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c.is_whitespace() && depth <= 0 {
            words.extend(start.take().map(|from: usize| (from, &line[from..at])));
        } else {
            start = start.or(Some(at));
        }
    }
    words.extend(start.map(|from| (from, &line[from..])));
    words.into_iter()
}

/// Whether a word is part of a formula: signs, digits, single letters, commands and names of functions.
fn is_mathematics(word: &str) -> bool {
    if word.starts_with("\\text") || word.ends_with(':') {
        return false;
    }
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_alphabetic()) {
        let command = rest[..start].ends_with('\\');
        let end =
            rest[start..].find(|c: char| !c.is_alphabetic()).map_or(rest.len(), |end| start + end);
        let name = &rest[start..end];
        let known =
            matches!(name, "sin" | "cos" | "tan" | "ln" | "log" | "sqrt" | "pi" | "or" | "and");
        if !(command || known || name.chars().count() == 1) {
            return false;
        }
        rest = &rest[end..];
    }
    // `a` and `I` are words of prose.
    !matches!(word, "a" | "A" | "I")
}
