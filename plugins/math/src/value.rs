//! The value of an answer after it is read.

use crate::expression::Expression;
use crate::moment::Moment;
use crate::names::is_text;
use crate::polynomial::{Atom, Symbol};
use crate::units::Unit;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scalar {
    /// A percentage is its hundredth here.
    pub(crate) expression: Expression,
    pub(crate) unit: Option<Unit>,
    /// Written with a percent sign.
    pub(crate) percent: bool,
    /// The rounded value that was given beside it, as in `1/3 \approx 0.33`.
    pub(crate) rounded: Option<Box<Expression>>,
}

/// The relation of two neighbours in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Less,
    LessEqual,
    Equal,
    NotEqual,
}

/// The name before a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Name {
    /// A variable, or what stands for one, such as `f(1)`.
    Variable(Expression),
    /// Words, as [`plain`] leaves them.
    Words(String),
}

/// A condition beside an answer, which says what one of its variables is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    pub(crate) variable: Symbol,
    /// The values that it has, where that is said.
    pub(crate) domain: Option<Value>,
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
    /// Inequalities that are no interval, the smallest side first.
    Chain {
        sides: Vec<Expression>,
        orders: Vec<Order>,
    },
    /// `3 : 4`.
    Ratio(Vec<Expression>),
    /// A date or a time of day.
    Moment(Moment),
    /// A value in a list, or a set of values, under its name: `\text{Alice} = 3`, `x > 2`, `x \in [0, 1]`.
    Named {
        name: Name,
        value: Box<Value>,
    },
    /// An answer with what is said of its variables.
    Given {
        value: Box<Value>,
        conditions: Vec<Condition>,
    },
    /// A letter of a multiple choice.
    Choice(char),
    /// Words, as [`plain`] leaves them.
    Text(String),
}

impl Value {
    pub(crate) fn scalar(expression: Expression) -> Self {
        Self::Scalar(Scalar { expression, unit: None, percent: false, rounded: None })
    }

    /// The kind of the value, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Scalar(_) => "a single value",
            Self::Equation { .. } => "an equation",
            Self::Set(_) => "a list without order",
            Self::Sequence { .. } => "a point or interval",
            Self::Union(_) => "a union",
            Self::Matrix(_) => "a matrix",
            Self::Chain { .. } => "an inequality",
            Self::Ratio(_) => "a ratio",
            Self::Moment(_) => "a date or time",
            Self::Named { value, .. } | Self::Given { value, .. } => value.kind(),
            Self::Choice(_) => "a choice",
            Self::Text(_) => "a text",
        }
    }

    pub(crate) fn infinity(negative: bool) -> Self {
        let infinity = Expression::Infinity;
        Self::scalar(if negative { Expression::Negate(Box::new(infinity)) } else { infinity })
    }

    /// The same without its name.
    pub(crate) fn unnamed(self) -> Self {
        match self {
            Self::Named { value, .. } => *value,
            other => other,
        }
    }

    pub(crate) fn name(&self) -> Option<&Name> {
        match self {
            Self::Named { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The symbol of a set of numbers, such as that of the whole or the positive real ones.
    pub(crate) fn number_set(&self) -> Option<Symbol> {
        match self {
            Self::Scalar(Scalar { expression: Expression::Atom(Atom::Symbol(symbol)), .. })
                if matches!(symbol.letter, 'ℤ' | 'ℕ' | 'ℚ' | 'ℂ' | 'ℝ') =>
            {
                Some(*symbol)
            }
            Self::Named { value, .. } => value.number_set(),
            _ => None,
        }
    }

    /// Whether it is the set of whole or natural numbers, which `k \in \mathbb{Z}` is read as too.
    pub(crate) fn is_whole_numbers(&self) -> bool {
        self.number_set().is_some_and(|symbol| matches!(symbol.letter, 'ℤ' | 'ℕ'))
    }

    /// Whether it is an interval without an end on one side.
    pub(crate) fn is_unbounded(&self) -> bool {
        let infinite = |item: &Self| {
            matches!(item, Self::Scalar(Scalar { expression, .. })
                if expression.any(&|inner| *inner == Expression::Infinity))
        };
        if let Self::Named { value, .. } = self {
            return value.is_unbounded();
        }
        matches!(self, Self::Sequence { items, .. } if items.iter().any(infinite))
    }

    /// All real numbers.
    pub(crate) fn reals() -> Self {
        let items = vec![Self::infinity(true), Self::infinity(false)];
        Self::Sequence { open: '(', close: ')', items }
    }

    /// The same with every expression changed.
    pub(crate) fn changed(&self, change: &mut impl FnMut(&Expression) -> Expression) -> Self {
        let mut scalar = |scalar: &Scalar| Scalar {
            expression: change(&scalar.expression),
            rounded: scalar.rounded.as_ref().map(|rounded| Box::new(change(rounded))),
            ..scalar.clone()
        };
        match self {
            Self::Scalar(value) => Self::Scalar(scalar(value)),
            Self::Equation { left, right } => {
                let right = scalar(right);
                Self::Equation { left: change(left), right }
            }
            Self::Set(items) => Self::Set(all_changed(items, change)),
            Self::Union(items) => Self::Union(all_changed(items, change)),
            Self::Sequence { open, close, items } => {
                Self::Sequence { open: *open, close: *close, items: all_changed(items, change) }
            }
            Self::Matrix(rows) => {
                Self::Matrix(rows.iter().map(|row| all_changed(row, change)).collect())
            }
            Self::Chain { sides, orders } => {
                Self::Chain { sides: sides.iter().map(change).collect(), orders: orders.clone() }
            }
            Self::Ratio(parts) => Self::Ratio(parts.iter().map(change).collect()),
            Self::Named { name, value } => {
                Self::Named { name: name.clone(), value: Box::new(value.changed(change)) }
            }
            Self::Given { value, conditions } => Self::Given {
                value: Box::new(value.changed(change)),
                conditions: conditions.clone(),
            },
            Self::Moment(_) | Self::Choice(_) | Self::Text(_) => self.clone(),
        }
    }
}

fn all_changed(items: &[Value], change: &mut impl FnMut(&Expression) -> Expression) -> Vec<Value> {
    items.iter().map(|item| item.changed(change)).collect()
}

/// The members of a list, with their names where those differ.
pub(crate) fn with_names_that_differ(items: Vec<Value>) -> Vec<Value> {
    let mut names = items.iter().filter_map(|item| match item {
        Value::Named { name, .. } => Some(name.clone()),
        Value::Equation { left, .. } => Some(Name::Variable(left.clone())),
        _ => None,
    });
    let first = names.next();
    if names.any(|name| Some(name) != first) {
        return items;
    }
    items.into_iter().map(Value::unnamed).collect()
}

/// A text for comparison as words: lower case, without layout, white space and outer punctuation.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '\\' {
            let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let name = &rest[..end];
            let layout = is_text(name)
                || matches!(
                    name,
                    "mathbf"
                        | "boldsymbol"
                        | "left"
                        | "right"
                        | "displaystyle"
                        | "quad"
                        | "qquad"
                        | "bf"
                );
            if matches!(name, "dfrac" | "tfrac" | "cfrac") {
                plain.push_str("\\frac");
                rest = &rest[end..];
                continue;
            }
            let sign = matches!(
                rest.as_bytes().first(),
                Some(b' ' | b'$' | b',' | b'!' | b';' | b':' | b'%' | b'(' | b')' | b'[' | b']')
            );
            match (layout, sign) {
                (true, _) => rest = &rest[end..],
                (_, true) => {}
                _ => plain.push('\\'),
            }
        } else if c.is_whitespace() || matches!(c, '$' | '*' | '`' | '{' | '}' | '"') {
            // `1 1/2` is not `11/2`.
            let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
            if digit(plain.chars().next_back()) && digit(rest.chars().next()) {
                plain.push(' ');
            }
        } else {
            plain.extend(c.to_lowercase());
        }
    }
    let trimmed = plain.trim_matches(['.', ',', ';', '!', '?', ':']);
    trimmed.to_owned()
}

/// A text that is no mathematics, for comparison as written: without layout, with one space at most between its
/// parts, letters and braces kept.
pub(crate) fn written(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut space = false;
    let mut rest = text.trim().trim_matches('$').trim_end_matches(['.', ',']).trim();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c.is_whitespace() || matches!(c, '$' | '~' | '`') {
            space = true;
            continue;
        }
        if c == '\\' {
            // A data set may have doubled some.
            rest = rest.trim_start_matches('\\');
            let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let name = &rest[..end];
            if is_text(name) || matches!(name, "left" | "right" | "displaystyle" | "quad" | "qquad")
            {
                rest = &rest[end..];
                space = true;
                continue;
            }
            if let Some(after) = rest.strip_prefix([',', ';', ':', '!', ' ']) {
                rest = after;
                space = true;
                continue;
            }
            if matches!(name, "dfrac" | "tfrac") {
                rest = &rest[1..];
            }
        }
        // A space matters only between two letters or digits.
        let joins = written.ends_with(char::is_alphanumeric) && c.is_alphanumeric();
        if std::mem::take(&mut space) && joins {
            written.push(' ');
        }
        written.push(c);
    }
    written
}

/// Words that mean a value: "all real numbers", "no solution".
pub(crate) fn words_as_value(text: &str) -> Option<Value> {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    if !(4..=40).contains(&letters)
        || text.bytes().any(|byte| byte.is_ascii_digit() || byte == b'=')
    {
        return None;
    }
    match plain(text).as_str() {
        "allrealnumbers" | "allreals" | "realnumbers" | "anyrealnumber" | "everyrealnumber" => {
            Some(Value::reals())
        }
        "nosolution"
        | "nosolutions"
        | "norealsolution"
        | "norealsolutions"
        | "emptyset"
        | "theemptyset"
        | "thereisnosolution"
        | "therearenosolutions"
        | "thereisnorealsolution"
        | "therearenorealsolutions" => Some(Value::Set(Vec::new())),
        _ => None,
    }
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
    loop {
        let word = rest.get(.."option ".len()).unwrap_or_default();
        if ["option ", "choice "].iter().any(|named| word.eq_ignore_ascii_case(named)) {
            rest = rest[word.len()..].trim_start_matches(layout);
        }
        let Some(command) = rest.strip_prefix('\\') else { break };
        let end = command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len());
        let name = &command[..end];
        let wrapper = is_text(name) || matches!(name, "mathbf" | "left" | "boldsymbol");
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
        Some(',') => {
            let reason = chars.as_str().trim_start();
            ["because ", "since "].iter().any(|word| reason.starts_with(word))
        }
        Some(_) => false,
    };
    (chosen && !names_another(chars.as_str())).then(|| letter.to_ascii_uppercase())
}

/// Whether another letter follows, as in `A or B`, `(A), (B)` and `A) and C)`, or the letter is denied.
fn names_another(rest: &str) -> bool {
    let mut words = Vec::new();
    let mut command = false;
    for (at, c) in rest.char_indices() {
        match c {
            '\\' => command = true,
            ',' | ';' | '/' | '&' => words.push(","),
            c if c.is_alphanumeric()
                && (at == 0 || !rest[..at].ends_with(char::is_alphanumeric)) =>
            {
                let end =
                    rest[at..].find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len() - at);
                let word = &rest[at..at + end];
                if !std::mem::take(&mut command) {
                    words.push(word);
                }
            }
            _ => {}
        }
        if words.len() > 3 {
            break;
        }
    }
    let letter = |word: &&str| matches!(word.as_bytes(), [b'A'..=b'J']);
    let any_case = |word: &&str| letter(&word.to_ascii_uppercase().as_str());
    let Some((first, more)) = words.split_first() else { return false };
    match first.to_ascii_lowercase().as_str() {
        "," => {
            let mut after = more.iter().skip_while(|word| **word == ",");
            match after.next() {
                // `(A), or (B)` and `(A), or even (B)`.
                Some(&("or" | "and")) => after.enumerate().any(|(at, word)| match at {
                    0 => any_case(word),
                    _ => letter(word),
                }),
                word => word.is_some_and(any_case),
            }
        }
        "or" | "and" => more.first().is_some_and(any_case) || more.iter().any(letter),
        "maybe" | "perhaps" | "possibly" | "if" | "unless" | "but" => more.iter().any(letter),
        // `A is wrong` chooses nothing.
        "is" => more
            .first()
            .is_some_and(|word| matches!(*word, "wrong" | "incorrect" | "not" | "false")),
        // `A B C D`; but `(B) A triangle` is B.
        _ => words.iter().all(letter),
    }
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
        for text in [
            "(B) A triangle",
            "B because A is not right",
            "(B) not enough",
            "B is right",
            "B, because A is not",
            "(B), since A and C are not",
        ] {
            check(text, Some('B'));
        }
        for text in [
            "B A",
            "B C D E",
            "(B) (C)",
            "B. C. D.",
            r"\text{B}\text{C}",
            "B and also C",
            "(B), or (C)",
            "(B), and even C",
            "B, or C",
            "B, C",
            "B, not C",
            "B maybe C",
            "B if not C",
            "B is wrong",
            "B is not right",
        ] {
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
