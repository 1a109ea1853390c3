//! Integer expressions of labels over a size's names: `+ - * / %`, parentheses, `ceil_div(a, b)`,
//! `min(a, b)`, `max(a, b)`. Every step is checked; division truncates.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::limits::EXPRESSION_BYTES_MAX;

const DEPTH_MAX: usize = 32;

/// A number, or text over the size's names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Expression {
    Number(i64),
    Text(String),
}

pub(crate) type Names = BTreeMap<String, i64>;

impl Expression {
    /// The value of the expression. An error names its place in the text, counted from 1.
    pub(crate) fn value(&self, names: &Names) -> Result<i64, String> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(text) => evaluate(text, names)
                .map_err(|(at, problem)| format!("`{text}`, at character {}: {problem}", at + 1)),
        }
    }
}

type Evaluated = Result<i64, (usize, String)>;

fn evaluate(text: &str, names: &Names) -> Evaluated {
    if text.len() > EXPRESSION_BYTES_MAX {
        return Err((0, format!("longer than {EXPRESSION_BYTES_MAX} bytes")));
    }
    let mut reader = Reader { text, at: 0, names, depth: 0 };
    let value = reader.sum()?;
    match reader.next() {
        None => Ok(value),
        Some(other) => reader.fault(format!("`{other}` is not expected")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    names: &'a Names,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let there = self.next() == Some(wanted);
        if there {
            self.at += wanted.len_utf8();
        }
        there
    }

    fn expect(&mut self, wanted: char) -> Result<(), (usize, String)> {
        if self.take(wanted) {
            return Ok(());
        }
        self.fault(format!("`{wanted}` is needed"))
    }

    fn fault<T>(&self, problem: impl Into<String>) -> Result<T, (usize, String)> {
        Err((self.at, problem.into()))
    }

    fn sum(&mut self) -> Evaluated {
        let mut value = self.product()?;
        loop {
            value = if self.take('+') {
                let right = self.product()?;
                self.checked(value.checked_add(right))?
            } else if self.take('-') {
                let right = self.product()?;
                self.checked(value.checked_sub(right))?
            } else {
                return Ok(value);
            };
        }
    }

    fn product(&mut self) -> Evaluated {
        let mut value = self.factor()?;
        loop {
            value = if self.take('*') {
                let right = self.factor()?;
                self.checked(value.checked_mul(right))?
            } else if self.take('/') {
                let right = self.divisor()?;
                self.checked(value.checked_div(right))?
            } else if self.take('%') {
                let right = self.divisor()?;
                self.checked(value.checked_rem(right))?
            } else {
                return Ok(value);
            };
        }
    }

    fn divisor(&mut self) -> Evaluated {
        match self.factor()? {
            0 => self.fault("division by zero"),
            value => Ok(value),
        }
    }

    fn checked(&self, value: Option<i64>) -> Evaluated {
        value.ok_or_else(|| (self.at, "beyond 64 bits".to_owned()))
    }

    fn factor(&mut self) -> Evaluated {
        if self.depth == DEPTH_MAX {
            return self.fault("nested too deep");
        }
        self.depth += 1;
        let value = self.atom();
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Evaluated {
        match self.next() {
            Some('(') => {
                self.take('(');
                let value = self.sum()?;
                self.expect(')')?;
                Ok(value)
            }
            Some('-') => {
                self.take('-');
                let value = self.factor()?;
                self.checked(value.checked_neg())
            }
            Some(digit) if digit.is_ascii_digit() => {
                let word = self.word();
                match word.parse() {
                    Ok(number) => {
                        self.at += word.len();
                        Ok(number)
                    }
                    Err(_) => self.fault(format!("`{word}` is no 64-bit number")),
                }
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => self.named(),
            Some(other) => self.fault(format!("`{other}` is not expected")),
            None => self.fault("it ends too early"),
        }
    }

    fn word(&self) -> &str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        &rest[..end.unwrap_or(rest.len())]
    }

    fn named(&mut self) -> Evaluated {
        let word = self.word().to_owned();
        let start = self.at;
        self.at += word.len();
        if self.next() != Some('(') {
            let unknown = || (start, format!("the size gives no integer `{word}`"));
            return self.names.get(&word).copied().ok_or_else(unknown);
        }
        let function: fn(i64, i64) -> Option<i64> = match word.as_str() {
            "min" => |a, b| Some(a.min(b)),
            "max" => |a, b| Some(a.max(b)),
            "ceil_div" => ceil_div,
            _ => return Err((start, format!("there is no function `{word}`"))),
        };
        self.expect('(')?;
        let left = self.sum()?;
        self.expect(',')?;
        let right = if word == "ceil_div" { self.positive()? } else { self.sum()? };
        self.expect(')')?;
        self.checked(function(left, right))
    }

    fn positive(&mut self) -> Evaluated {
        match self.sum()? {
            value if value > 0 => Ok(value),
            value => self.fault(format!("a divisor must be positive, not {value}")),
        }
    }
}

/// Rounded up; the divisor is positive.
fn ceil_div(a: i64, b: i64) -> Option<i64> {
    a.div_euclid(b).checked_add(i64::from(a.rem_euclid(b) != 0))
}

#[cfg(test)]
mod tests;
