//! Conditions beside an answer: `k \in \mathbb{Z}`, `\text{for all } n \ge 1`. They say what a variable of the answer
//! is and are no values of their own.

use std::ops::Range;

use crate::expression::Expression;
use crate::kind::Kind;
use crate::lex::Token;
use crate::polynomial::{Atom, Symbol};
use crate::value::{Condition, Name, Scalar, Value};

/// The words before a condition, such as "for all", as places of tokens.
pub(crate) struct ConditionWords {
    range: Range<usize>,
    /// Whether they may stand before a variable alone.
    all: bool,
    /// The place after the condition.
    end: usize,
}

impl ConditionWords {
    /// The only words outside brackets that begin a condition, where no others follow. Several belong to a function by
    /// cases, whose conditions belong to its values.
    pub(crate) fn before_condition(tokens: &[Token]) -> Option<Self> {
        let mut depth = 0_i32;
        let mut found: Option<Self> = None;
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Open(_) | Kind::Begin(_) => depth += 1,
                Kind::Close(_) | Kind::End => depth -= 1,
                Kind::Word(word) if depth == 0 && at > 0 => match &mut found {
                    Some(words) if words.range.end == at => words.range.end += 1,
                    Some(_) => return None,
                    None => found = Self::beginning(word, at, tokens.len()),
                },
                _ => {}
            }
        }
        found.or_else(|| Self::in_brackets(tokens))
    }

    /// `2k\pi \quad (k \in \mathbb{Z})`: the opening bracket stands for the words.
    fn in_brackets(tokens: &[Token]) -> Option<Self> {
        let end = tokens.len().checked_sub(1)?;
        if tokens[end].kind != Kind::Close(')') {
            return None;
        }
        let open = tokens.iter().rposition(|token| matches!(token.kind, Kind::Open('(' | '[')))?;
        let inside = &tokens[open..end];
        let member = inside.iter().any(|token| token.kind == Kind::In);
        let whole = !inside.iter().any(|token| matches!(token.kind, Kind::Close(')' | ']')));
        (open > 0 && member && whole).then_some(Self { range: open..open + 1, all: false, end })
    }

    fn beginning(word: &str, at: usize, end: usize) -> Option<Self> {
        let mut words = word.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        let begins = matches!(words.next(), Some("for" | "where" | "with"));
        let all = matches!(words.next(), Some("all" | "any" | "each" | "every" | "some"));
        begins.then_some(Self { range: at..at + 1, all, end })
    }

    pub(crate) fn start(&self) -> usize {
        self.range.start
    }

    /// The places of the condition after them.
    pub(crate) fn condition(&self) -> Range<usize> {
        self.range.end..self.end
    }

    /// The answer under the conditions that stand after the words; `None` where they are none.
    pub(crate) fn given(&self, value: Value, items: Vec<Value>) -> Option<Value> {
        let conditions: Vec<_> = items.iter().map(condition).collect::<Option<_>>()?;
        let stated = self.all || conditions.iter().any(|condition| condition.domain.is_some());
        let of_answer = conditions.iter().all(|condition| mentions(&value, condition.variable));
        (stated && of_answer).then(|| given(value, conditions))
    }
}

/// `n \ge 1`, `x \in \mathbb{R}`, or the `x` of `x, y \in \mathbb{R}`.
fn condition(item: &Value) -> Option<Condition> {
    match item {
        Value::Named { name: Name::Variable(Expression::Atom(Atom::Symbol(variable))), value } => {
            Some(Condition { variable: *variable, domain: Some((**value).clone()) })
        }
        item => Some(Condition { variable: variable(item)?, domain: None }),
    }
}

fn variable(item: &Value) -> Option<Symbol> {
    match item {
        Value::Scalar(Scalar {
            expression: Expression::Atom(Atom::Symbol(symbol)),
            unit: None,
            percent: false,
            rounded: None,
        }) => Some(*symbol),
        _ => None,
    }
}

/// Whether a variable occurs in a value, also as an index.
fn mentions(value: &Value, variable: Symbol) -> bool {
    let mut found = false;
    value.changed(&mut |expression| {
        found |= expression.any(&|inner| match inner {
            Expression::Atom(Atom::Symbol(symbol)) => {
                *symbol == variable || symbol.index().contains(variable.letter)
            }
            _ => false,
        });
        expression.clone()
    });
    found
}

/// A value under conditions.
pub(crate) fn given(value: Value, conditions: Vec<Condition>) -> Value {
    match value {
        value if conditions.is_empty() => value,
        Value::Given { value, conditions: mut before } => {
            before.extend(conditions);
            Value::Given { value, conditions: before }
        }
        value => Value::Given { value: Box::new(value), conditions },
    }
}

/// Takes the conditions out of a list: `2k\pi, k \in \mathbb{Z}` lists no second value.
pub(crate) fn separate(items: Vec<Value>) -> (Vec<Value>, Vec<Condition>) {
    // Most answers have none.
    if items.len() < 2 || !items.iter().any(|item| item.name().is_some() || item.is_whole_numbers())
    {
        return (items, Vec::new());
    }
    let mut conditions: Vec<Condition> = Vec::new();
    let mut kept: Vec<Value> = Vec::new();
    let others = items.iter().any(|item| !item.is_whole_numbers());
    // From the last to the first, so that `x, y \in \mathbb{R}` is met at its set.
    for (at, item) in items.iter().enumerate().rev() {
        let mentioned = |variable| {
            let mut others = items.iter().enumerate().filter(|(other, _)| *other != at);
            others.any(|(_, other)| {
                // `x \in \mathbb{R}, x > 2` is `x > 2`.
                mentions(other, variable) || is_real(item) && other.name() == item.name()
            })
        };
        let found = condition(item).filter(|condition| mentioned(condition.variable));
        match found {
            Some(condition) if is_numbers(item) => conditions.push(condition),
            Some(Condition { variable, domain: None }) if at > 0 && kept.is_empty() => {
                match conditions.last().map(|condition| condition.domain.clone()) {
                    Some(domain) => conditions.push(Condition { variable, domain }),
                    None => kept.push(item.clone()),
                }
            }
            _ if others && item.is_whole_numbers() => {}
            _ => kept.push(item.clone()),
        }
    }
    if kept.is_empty() {
        return (items, Vec::new());
    }
    kept.reverse();
    (kept, conditions)
}

/// Whether it is a variable in a set of numbers.
fn is_numbers(item: &Value) -> bool {
    item.name().is_some() && item.number_set().is_some() || is_real(item)
}

fn is_real(item: &Value) -> bool {
    matches!(item, Value::Named { value, .. } if **value == Value::reals())
}

/// The right value and its conditions with the left name of the one whole number that each side declares.
pub(crate) fn renamed(
    left: (&Value, &[Condition]),
    right: (&Value, &[Condition]),
) -> (Value, Vec<Condition>) {
    let declared = |conditions: &[Condition]| {
        let mut whole = conditions
            .iter()
            .filter(|condition| condition.domain.as_ref().is_some_and(Value::is_whole_numbers));
        let only = whole.next()?.variable;
        whole.next().is_none().then_some(only)
    };
    let (value, mut conditions) = (right.0.clone(), right.1.to_vec());
    let (Some(to), Some(from)) = (declared(left.1), declared(right.1)) else {
        return (value, conditions);
    };
    if to == from || mentions(&value, to) || mentions(left.0, from) {
        return (value, conditions);
    }
    for condition in conditions.iter_mut().filter(|condition| condition.variable == from) {
        condition.variable = to;
    }
    (value.changed(&mut |expression| expression.renamed(from, to)), conditions)
}

/// The least of the whole numbers that a condition allows: 1 for `\mathbb{Z}^+` and `n \ge 1`, 0 or 1 for
/// `\mathbb{N}`, which is either to different authors.
pub(crate) fn least(domain: &Value) -> &'static [u8] {
    let bound = |value: &Value, number| *value == Value::scalar(Expression::integer(number));
    match domain {
        Value::Sequence { open: '[', items, .. } if domain.is_unbounded() => match items.first() {
            Some(low) if bound(low, 0) => &[0],
            Some(low) if bound(low, 1) => &[1],
            _ => &[],
        },
        Value::Sequence { open: '(', items, .. } if domain.is_unbounded() => match items.first() {
            Some(low) if bound(low, 0) => &[1],
            _ => &[],
        },
        domain => {
            match domain.number_set().map(|symbol| (symbol.letter, symbol.index().to_owned())) {
                Some(('ℕ', index)) if index.is_empty() => &[0, 1],
                Some(('ℕ', index)) if matches!(index.as_str(), "*" | "+") => &[1],
                Some(('ℤ', index)) if index == "+" => &[1],
                Some(('ℤ' | 'ℕ', index)) if index == "0" => &[0],
                _ => &[],
            }
        }
    }
}
