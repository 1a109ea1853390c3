//! Whether a model's `forward` does no more than call the one function: whatever else it does would not
//! be judged.

use super::token::Token;
use crate::extract::unsupported;
use crate::verdict::Failure;

/// The calls that `forward` may apply to its arguments: none of them changes a number.
const HARMLESS: [&str; 8] = ["contiguous", "cuda", "detach", "size", "numel", "dim", "int", "len"];

type Tokens<'a> = &'a [(Token, usize)];

/// The last `forward` counts; sources alone have none.
pub(super) fn check(text: &str, tokens: Tokens<'_>, entry: &str) -> Result<(), Failure> {
    let is_forward =
        |pair: Tokens<'_>| is_word(&pair[0].0, "def") && is_word(&pair[1].0, "forward");
    let Some(at) = tokens.windows(2).rposition(is_forward) else { return Ok(()) };
    let mut calls = false;
    for line in body(text, tokens, at) {
        let line: Vec<&Token> = line.iter().map(|(token, _)| token).collect();
        match statement(&line, entry) {
            Some(Statement::Call) => calls = true,
            Some(Statement::Harmless) => {}
            None => {
                return Err(unsupported(format!("its forward does more than call `{entry}`")));
            }
        }
    }
    if calls { Ok(()) } else { Err(unsupported(format!("its forward never calls `{entry}`"))) }
}

enum Statement {
    Call,
    Harmless,
}

fn is_word(token: &Token, wanted: &str) -> bool {
    matches!(token, Token::Word(word) if word == wanted)
}

/// The lines after a `def`, as long as they are indented further than it is.
fn body<'a>(text: &str, tokens: Tokens<'a>, def: usize) -> Vec<Tokens<'a>> {
    let lines = lines(tokens);
    let Some(first) = lines.iter().position(|line| line.start <= def && def < line.end) else {
        return Vec::new();
    };
    // A line's first token follows the end of the line before, and blanks.
    let indent = |line: &std::ops::Range<usize>| {
        let begin = line.start.checked_sub(1).map_or(0, |before| tokens[before].1);
        let rest = &text[begin..];
        rest.len() - rest.trim_start_matches([' ', '\t']).len()
    };
    let outside = indent(&lines[first]);
    let inside = lines[first + 1..].iter().take_while(|line| indent(line) > outside);
    inside.map(|line| &tokens[line.clone()]).collect()
}

/// Logical lines that hold anything: brackets go on over a line's end.
fn lines(tokens: Tokens<'_>) -> Vec<std::ops::Range<usize>> {
    let mut lines = Vec::new();
    let (mut begin, mut depth) = (0, 0_usize);
    for (at, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Line if depth == 0 => {
                if begin < at {
                    lines.push(begin..at);
                }
                begin = at + 1;
            }
            _ => {}
        }
    }
    if begin < tokens.len() {
        lines.push(begin..tokens.len());
    }
    lines
}

fn statement(line: &[&Token], entry: &str) -> Option<Statement> {
    let value = match line {
        [Token::Text(_)] => return Some(Statement::Harmless),
        [first, ..] if is_word(first, "assert") => return Some(Statement::Harmless),
        [first, value @ ..] if is_word(first, "return") => value,
        [Token::Word(_), Token::Mark('='), value @ ..] => value,
        _ => return None,
    };
    let value: Vec<&Token> = value.iter().copied().filter(|token| **token != Token::Line).collect();
    if !is_harmless(&value, entry) {
        return None;
    }
    let open = value.iter().position(|token| **token == Token::Mark('('));
    let Some(open) = open else { return Some(Statement::Harmless) };
    if open > 0 && is_word(value[open - 1], entry) {
        // Nothing is done to what it returns.
        return closes_last(&value, open).then_some(Statement::Call);
    }
    let again = value.iter().any(|token| is_word(token, entry));
    (!again).then_some(Statement::Harmless)
}

/// Names, arguments, and calls of nothing but the function itself and what changes no number.
fn is_harmless(value: &[&Token], entry: &str) -> bool {
    let marks = value.iter().all(|token| match token {
        Token::Mark(mark) => matches!(mark, '.' | ',' | '(' | ')' | '[' | ']' | '='),
        Token::Word(word) => !matches!(word.as_str(), "if" | "else" | "for" | "lambda" | "not"),
        Token::Text(_) => false,
        Token::Line => true,
    });
    let calls = value.windows(2).filter(|pair| *pair[1] == Token::Mark('('));
    let mut called = calls.map(|pair| match pair[0] {
        Token::Word(word) => word == entry || HARMLESS.contains(&word.as_str()),
        Token::Mark(mark) => !matches!(mark, ')' | ']'),
        _ => false,
    });
    marks && called.all(|harmless| harmless)
}

fn closes_last(value: &[&Token], open: usize) -> bool {
    let mut depth = 0_usize;
    for (at, token) in value.iter().enumerate().skip(open) {
        match token {
            Token::Mark('(') => depth += 1,
            Token::Mark(')') if depth == 1 => return at + 1 == value.len(),
            Token::Mark(')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}
