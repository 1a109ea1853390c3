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
    "giving",
    "yielding",
    "making",
    "resulting",
    "simplifies",
    "equals",
    "becomes",
    "final",
    "answer",
];

/// Whether the text between two boxes joins them to one answer: `\boxed{1}, \boxed{2}`, `\boxed{1} and
/// \boxed{2}`, `\boxed{3} cats and \boxed{4} dogs`.
pub(crate) fn joins_boxes(between: &str) -> bool {
    joins(between, 3) && !computes(between)
}

/// Whether the second box has the value of an operation, as in `, $x+y=\boxed{5}$`: the boxes before are steps to it.
fn computes(between: &str) -> bool {
    let Some((before, _)) = between.rsplit_once('=') else { return false };
    let start = before.rfind([',', ';', '$']).map_or(0, |at| at + 1);
    let mut depth = 0_i32;
    // A sign without anything before it is that of a number.
    let mut operand = false;
    for (at, c) in before[start..].char_indices() {
        let rest = &before[start + at..];
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '-' if hyphenates(rest) => {}
            '+' | '-' | '*' | '/' if depth == 0 && operand => return true,
            '\\' if depth == 0 && (rest.starts_with("\\cdot") || rest.starts_with("\\times")) => {
                return true;
            }
            _ => {}
        }
        operand |= c.is_alphanumeric() || matches!(c, ')' | '}' | ']');
    }
    false
}

/// Whether the text between two formulas joins them: `$1$ and $2$`. A comma alone does not: formulas follow each
/// other in prose.
pub(crate) fn joins_formulas(between: &str) -> bool {
    between
        .split(|c: char| !c.is_alphabetic())
        .any(|word| matches!(word, "and" | "or" | "或" | "和"))
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
        } else if matches!(word, "and" | "or" | "或" | "和") {
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

/// Whether a minus sign begins the second part of a word, as in `y-coordinate`.
fn hyphenates(rest: &str) -> bool {
    rest[1..].chars().take_while(|c| c.is_alphabetic()).count() > 2
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

/// Whether the last number of a sentence only bounds or scales what it states: "less than 18", "between 17 and 18",
/// "twice 18".
pub(crate) fn is_bound(sentence: &str, number: &str) -> bool {
    let Some(at) = sentence.rfind(number) else { return false };
    let mut words = sentence[..at].split(|c: char| !c.is_alphanumeric()).rev();
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    let (last, before) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is = |one: &str| last.eq_ignore_ascii_case(one);
    is("than") && !matches!(before, "other" | "rather")
        || ["twice", "thrice", "half", "below", "under"].into_iter().any(is)
        || is("of") && matches!(before, "half" | "third" | "quarter" | "double" | "multiple")
        || is("be") && matches!(before, "cannot" | "not")
        || is("to") && before.bytes().all(|byte| byte.is_ascii_digit())
        || is("and") && words.any(|word| word == "between")
}

/// The part of a sentence before it gives a reason: `18` of `18, since she sells 9`.
pub(crate) fn stated_first(sentence: &str) -> Option<&str> {
    let reasons = [" since ", " because ", " as ", " where ", " which ", "因为"];
    let end = reasons.iter().filter_map(|reason| sentence.find(reason)).min()?;
    let stated = sentence[..end].trim_end_matches([',', ';', ' ']);
    (!stated.is_empty()).then_some(stated)
}

/// The value with which a sentence begins, with its unit, where what follows only adds to it: `18 dollars` of `18 dollars
/// for 9 eggs`, `5 miles` of `5 miles (8 km)`. `2 times 9, so 18` begins with a step.
pub(crate) fn stated_at_start(sentence: &str) -> Option<&str> {
    const ADDS: &[&str] =
        &["for", "out", "in", "at", "on", "from", "with", "when", "after", "before", "not"];
    const GOES_ON: &[&str] = &[
        "times",
        "plus",
        "minus",
        "divided",
        "multiplied",
        "over",
        "is",
        "are",
        "equals",
        "makes",
        "making",
        "gives",
        "giving",
        "so",
        "thus",
        "hence",
        "therefore",
        "then",
        "which",
        "and",
        "or",
        "but",
        "to",
        "actually",
        "rather",
        "instead",
        "wait",
    ];
    let value = value_length(sentence)?;
    let rest = &sentence[value..];
    let mut words = rest.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    if calculates(rest) || words.any(|word| GOES_ON.contains(&word)) {
        return None;
    }
    let mut end = value;
    for (at, word) in self::words(rest) {
        let adds = ADDS.contains(&word);
        let separates = rest[..at].trim_end().ends_with([',', ';']);
        let another = word.contains(|c: char| c.is_ascii_digit() || c == '$' || c == '\\');
        if word.starts_with('(') || !another && (adds || separates) {
            return Some(sentence[..end].trim_end_matches([',', ';']));
        }
        if another {
            return None;
        }
        end = value + at + word.len();
    }
    None
}

/// Whether prose goes on to calculate; what brackets and formulas hold only explains.
fn calculates(prose: &str) -> bool {
    let (mut depth, mut formula) = (0_i32, false);
    prose.chars().any(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        formula ^= c == '$';
        depth <= 0 && !formula && matches!(c, '=' | '+' | '*' | '/' | '?' | '\n' | '≈')
    })
}

/// The length of the number or formula with which a sentence begins.
fn value_length(sentence: &str) -> Option<usize> {
    // `$5 and $x$` begins with an amount.
    let dollars = sentence.strip_prefix('$').and_then(|inner| inner.split_once('$'));
    let formula = dollars.filter(|(inner, _)| !inner.ends_with([' ', '(']));
    let formula = formula.or_else(|| sentence.strip_prefix("\\(")?.split_once("\\)"));
    if let Some((inner, rest)) = formula {
        let states = inner.contains(|c: char| c.is_ascii_digit() || c == '\\');
        return states.then_some(sentence.len() - rest.len());
    }
    let sign = sentence.len() - sentence.trim_start_matches(['-', '$', '\\']).len();
    let number = |text: &str| {
        let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '/' | '%')));
        let written = text[..end.unwrap_or(text.len())].trim_end_matches([',', '.', '/']);
        written.starts_with(|c: char| c.is_ascii_digit()).then_some(written.len())
    };
    let whole = sign + number(&sentence[sign..])?;
    // `1 1/2` is a mixed number.
    let part = sentence[whole..].strip_prefix(' ').and_then(number);
    let part = part.filter(|length| sentence[whole + 1..][..*length].contains('/'));
    let end = whole + part.map_or(0, |length| 1 + length);
    Some(end + if sentence[end..].starts_with("\\%") { "\\%".len() } else { 0 })
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
