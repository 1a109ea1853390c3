//! Text into words, punctuation and strings, each with its line. Comments vanish here.

use crate::error::{ParseError, ParseProblem};
use crate::limits::TOKENS_MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind<'a> {
    /// Names, numbers, opcodes with their modifiers, directives.
    Word(&'a str),
    Mark(char),
    Quoted(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtxToken<'a> {
    pub line: u32,
    pub kind: TokenKind<'a>,
}

impl PtxToken<'_> {
    pub fn is_word_of_more(&self, bytes: usize) -> bool {
        matches!(self.kind, TokenKind::Word(word) if word.len() > bytes)
    }

    pub fn text(&self) -> String {
        match self.kind {
            TokenKind::Word(word) | TokenKind::Quoted(word) => word.chars().take(120).collect(),
            TokenKind::Mark(mark) => mark.to_string(),
        }
    }
}

pub fn tokens(text: &str) -> Result<Vec<PtxToken<'_>>, ParseError> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            let end =
                rest[1..].find('"').ok_or_else(|| fault(line, first, "a string has no end"))?;
            tokens.push(PtxToken { line, kind: TokenKind::Quoted(&rest[1..=end]) });
            end + 2
        } else if is_word(first) {
            let length = word_length(rest);
            tokens.push(PtxToken { line, kind: TokenKind::Word(&rest[..length]) });
            length
        } else if ",;[]{}()<>@!|+-=:".contains(first) {
            tokens.push(PtxToken { line, kind: TokenKind::Mark(first) });
            1
        } else {
            return Err(fault(line, first, "a character that PTX does not have"));
        };
        if tokens.len() > TOKENS_MAX {
            return Err(limit(line, "words and marks", TOKENS_MAX));
        }
        line += rest[..length].bytes().filter(|byte| *byte == b'\n').count() as u32;
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_$%.".contains(letter)
}

/// `L2::128B` is a part of its word, the colon after a label is not.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        if rest.starts_with("::") {
            length += 2;
        } else if rest.starts_with(is_word) {
            length += 1;
        } else {
            return length;
        }
    }
}

fn limit(line: u32, what: &'static str, most: usize) -> ParseError {
    ParseError { line, text: String::new(), problem: ParseProblem::Limit(what, most as u64) }
}

fn fault(line: u32, letter: char, problem: &'static str) -> ParseError {
    ParseError { line, text: letter.to_string(), problem: ParseProblem::Syntax(problem) }
}
