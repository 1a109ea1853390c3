//! Values of literals: what names of the module stand for, and what a call is given.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::token::Token;

const DEPTH_MAX: usize = 16;
/// The bytes of all values together: a few lines that double a text must not fill the memory.
const BYTES_MAX: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A string is a list of one.
    Texts(Vec<String>),
    Other,
}

/// Reads expressions with the names that were given values before.
pub(super) struct Literals<'a> {
    tokens: &'a [(Token, usize)],
    names: BTreeMap<&'a str, Value>,
    bytes_left: Cell<usize>,
}

/// The order of `load_inline`'s own parameters.
const PARAMETERS: [&str; 4] = ["name", "cpp_sources", "cuda_sources", "functions"];

impl<'a> Literals<'a> {
    /// Knows all names that are assigned before this place.
    pub(super) fn of_module(tokens: &'a [(Token, usize)], before: usize) -> Self {
        let bytes_left = Cell::new(BYTES_MAX);
        let mut literals = Self { tokens, names: BTreeMap::new(), bytes_left };
        let mut at = 0;
        while at + 1 < before {
            let begins = at == 0 || literals.token(at - 1) == Some(&Token::Line);
            let assigns = literals.is_mark(at + 1, '=') && !literals.is_mark(at + 2, '=');
            if let (Some(Token::Word(name)), true, true) = (literals.token(at), begins, assigns) {
                let (value, _) = literals.expression(at + 2, 0);
                literals.names.insert(name, value);
            } else if let (Some(Token::Word(name)), true) = (literals.token(at), begins) {
                // `name += ...` and the like: it is not what it was.
                let changed = literals.is_mark(at + 2, '=') && !literals.is_mark(at + 1, '=');
                if changed && literals.names.contains_key(name.as_str()) {
                    literals.names.insert(name, Value::Other);
                }
            }
            at += 1;
        }
        literals
    }

    /// The arguments of the call whose opening parenthesis is at this place, by name.
    pub(super) fn arguments(&self, open: usize) -> BTreeMap<String, Value> {
        let mut arguments = BTreeMap::new();
        let mut at = open + 1;
        let mut position = 0;
        loop {
            at = self.skip_lines(at);
            if self.token(at).is_none() || self.is_mark(at, ')') {
                return arguments;
            }
            let name = match (self.token(at), self.is_mark(at + 1, '=')) {
                (Some(Token::Word(name)), true) => {
                    at += 2;
                    Some(name.as_str())
                }
                _ => PARAMETERS.get(position).copied(),
            };
            position += 1;
            let (value, end) = self.expression(at, 1);
            if let Some(name) = name {
                arguments.insert(name.to_owned(), value);
            }
            at = self.skip_lines(end);
            match self.token(at) {
                Some(Token::Mark(',')) => at += 1,
                Some(Token::Mark(')')) => {}
                // It is no Python.
                _ => return arguments,
            }
        }
    }

    fn token(&self, at: usize) -> Option<&'a Token> {
        self.tokens.get(at).map(|(token, _)| token)
    }

    fn is_mark(&self, at: usize, mark: char) -> bool {
        self.token(at) == Some(&Token::Mark(mark))
    }

    fn skip_lines(&self, mut at: usize) -> usize {
        while self.token(at) == Some(&Token::Line) {
            at += 1;
        }
        at
    }

    /// Whether so many more may be put together.
    fn takes(&self, bytes: usize) -> bool {
        let left = self.bytes_left.get().checked_sub(bytes);
        self.bytes_left.set(left.unwrap_or(self.bytes_left.get()));
        left.is_some()
    }

    /// The place after the line ends here, if brackets are open: inside them a line's end is white space.
    fn behind_lines(&self, at: usize, depth: usize) -> usize {
        if depth > 0 { self.skip_lines(at) } else { at }
    }

    /// A sum of terms, and where it ends: at a comma, a closing mark, or a line's end outside of any.
    fn expression(&self, start: usize, depth: usize) -> (Value, usize) {
        let (mut value, end) = self.term(start, depth);
        let mut at = self.behind_lines(end, depth);
        while let (Value::Texts(texts), true) = (&mut value, self.is_mark(at, '+')) {
            let (more, end) = self.term(at + 1, depth);
            at = self.behind_lines(end, depth);
            match (&mut texts[..], more) {
                ([left], Value::Texts(right)) if right.len() == 1 => left.push_str(&right[0]),
                _ => return (Value::Other, self.end(start, depth)),
            }
        }
        match self.token(at) {
            None | Some(Token::Line | Token::Mark(',' | ')' | ']')) => (value, at),
            Some(_) => (Value::Other, self.end(start, depth)),
        }
    }

    fn term(&self, start: usize, depth: usize) -> (Value, usize) {
        let start = self.behind_lines(start, depth);
        match self.token(start) {
            Some(Token::Text(_)) => self.strings(start, depth),
            Some(Token::Word(name)) => {
                let known = self.names.get(name.as_str()).filter(|value| match value {
                    Value::Texts(texts) => self.takes(texts.iter().map(String::len).sum()),
                    Value::Other => true,
                });
                (known.cloned().unwrap_or(Value::Other), start + 1)
            }
            Some(Token::Mark('[' | '(')) if depth < DEPTH_MAX => self.list(start, depth + 1),
            _ => (Value::Other, self.end(start, depth)),
        }
    }

    /// Neighbours are one string.
    fn strings(&self, mut at: usize, depth: usize) -> (Value, usize) {
        let mut whole = Some(String::new());
        while let Some(Token::Text(text)) = self.token(at) {
            whole = whole.zip(text.as_deref()).map(|(whole, text)| whole + text);
            at = self.behind_lines(at + 1, depth);
        }
        (whole.map_or(Value::Other, |whole| Value::Texts(vec![whole])), at)
    }

    /// `[a, b]`, or `(a)`.
    fn list(&self, open: usize, depth: usize) -> (Value, usize) {
        let mut all = Some(Vec::new());
        let mut at = self.skip_lines(open + 1);
        loop {
            match self.token(at) {
                None => return (Value::Other, at),
                Some(Token::Mark(']' | ')')) => {
                    return (all.map_or(Value::Other, Value::Texts), at + 1);
                }
                Some(Token::Mark(',')) => at = self.skip_lines(at + 1),
                Some(_) => {
                    let (value, end) = self.expression(at, depth);
                    match value {
                        Value::Texts(texts) => {
                            if let Some(all) = &mut all {
                                all.extend(texts);
                            }
                        }
                        Value::Other => all = None,
                    }
                    at = self.skip_lines(end.max(at + 1));
                }
            }
        }
    }

    /// The end of the expression that begins here: the next comma, closing mark or line's end outside of
    /// it.
    fn end(&self, start: usize, outside: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = start;
        while let Some(token) = self.token(at) {
            match token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}' | ',') if depth == 0 => break,
                Token::Line if depth == 0 && outside == 0 => break,
                Token::Mark(')' | ']' | '}') => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        at
    }
}
