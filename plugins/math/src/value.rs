//! The value of an answer after it is read.

use crate::expression::Expression;
use crate::units::Unit;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scalar {
    /// A percentage is its hundredth here.
    pub(crate) expression: Expression,
    pub(crate) unit: Option<Unit>,
    /// Written with a percent sign.
    pub(crate) percent: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Scalar(Scalar),
    Equation {
        left: Expression,
        right: Scalar,
    },
    /// A set, in no order: `\{1, 2\}`, `1, 2`, `1 or 2`, `\pm 1`.
    Set(Vec<Value>),
    /// A point or an interval: `(1, 2]`.
    Sequence {
        open: char,
        close: char,
        items: Vec<Value>,
    },
    /// The union of intervals and sets, in no order.
    Union(Vec<Value>),
    Matrix(Vec<Vec<Value>>),
    /// A letter of a multiple choice.
    Choice(char),
    /// Words, as [`plain`] leaves them.
    Text(String),
}

impl Value {
    pub(crate) fn scalar(expression: Expression) -> Self {
        Self::Scalar(Scalar { expression, unit: None, percent: false })
    }
}

/// A text for comparison as words: lower case, without layout, white space and outer punctuation.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '\\' {
            let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let layout = matches!(
                &rest[..end],
                "text"
                    | "textbf"
                    | "textit"
                    | "textrm"
                    | "mathrm"
                    | "mathbf"
                    | "mbox"
                    | "left"
                    | "right"
            );
            let sign = matches!(
                rest.as_bytes().first(),
                Some(b' ' | b'$' | b',' | b'!' | b'%' | b'(' | b')')
            );
            match (layout, sign) {
                (true, _) => rest = &rest[end..],
                (_, true) => {}
                _ => plain.push('\\'),
            }
        } else if !(c.is_whitespace() || matches!(c, '$' | '*' | '`' | '{' | '}' | '"')) {
            plain.extend(c.to_lowercase());
        }
    }
    let trimmed = plain.trim_matches(['.', ',', ';', '!', '?', ':']);
    trimmed.to_owned()
}

/// Whether a text that is no mathematics is made of words.
pub(crate) fn is_wordy(plain: &str) -> bool {
    let letters = plain.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 2 && !plain.contains(['\\', '^', '=', '&', '|', '_'])
}

/// The letter of a multiple choice: `B`, `(b)`, `B.`, `\text{B}`, `(B) 12`, `B is right`; not what
/// is named in `B = 5`.
pub(crate) fn choice(text: &str) -> Option<char> {
    let layout = |c: char| c.is_whitespace() || matches!(c, '$' | '*' | '{');
    let mut rest = text.trim_start_matches(layout);
    for word in ["option ", "choice "] {
        if rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)) {
            rest = rest[word.len()..].trim_start_matches(layout);
        }
    }
    while let Some(command) = rest.strip_prefix('\\') {
        let end = command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len());
        let wrapper = matches!(&command[..end], "text" | "textbf" | "mathrm" | "mathbf" | "left");
        rest = wrapper.then(|| command[end..].trim_start_matches(layout))?;
    }
    let inner = rest.strip_prefix('(');
    let mut chars = inner.unwrap_or(rest).chars();
    let letter = chars.next()?;
    if !('A'..='J').contains(&letter.to_ascii_uppercase()) {
        return None;
    }
    let after = chars.next();
    let chosen = match after {
        Some(')') => true,
        _ if inner.is_some() || letter.is_ascii_lowercase() => false,
        None | Some('.' | ':' | '}' | '$' | '*') => true,
        Some(c) if c.is_whitespace() => {
            let word = chars.as_str().trim_start().chars().next();
            word.is_none_or(|c| c.is_alphanumeric() || c == '(')
        }
        Some(_) => false,
    };
    chosen.then(|| letter.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_choices() {
        let check = |text: &str, expected| assert_eq!(choice(text), expected, "{text}");
        for text in [
            "B",
            "(B)",
            "(b)",
            "b)",
            "B.",
            r"\text{B}",
            r"\textbf{(B)} 12",
            "**B**",
            "$B$",
            "option (B)",
        ] {
            check(text, Some('B'));
        }
        for text in
            ["b", "A = 5", "options", "Because", "(Bc)", "12", "", "Z", "(B, C)", r"\frac12"]
        {
            check(text, None);
        }
    }

    #[test]
    fn plain_text_keeps_words() {
        assert_eq!(plain(r" \text{Monday Morning}. "), "mondaymorning");
        assert!(is_wordy("monday"));
        assert!(!is_wordy(r"\frac{1"));
    }
}
