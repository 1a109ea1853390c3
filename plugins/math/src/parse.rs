//! Reads tokens into a [`Value`]: lists, sets, intervals, matrices, equations, and what measures a
//! scalar. Expressions are read by [`crate::algebra`], on the same parser.
//!
//! The recursion is bounded by [`limits::DEPTH_MAX`], the chains by [`limits::OPERATIONS_MAX`]; it
//! must never panic, whatever the tokens.

use num_rational::BigRational;

use crate::expression::Expression;
use crate::kind::Kind;
use crate::lex::{Result, Token, Unreadable, tokens};
use crate::limits;
use crate::polynomial::Atom;
use crate::units::Unit;
use crate::value::{Scalar, Value, is_wordy, plain};

/// Reads an answer; words that are no mathematics are a text.
pub(crate) fn parse(text: &str) -> Result<Value> {
    parse_mathematics(text).or_else(|unreadable| {
        if text.len() > limits::ANSWER_BYTES_MAX {
            return Err(unreadable);
        }
        let plain = plain(text);
        if is_wordy(&plain) { Ok(Value::Text(plain)) } else { Err(unreadable) }
    })
}

pub(crate) fn parse_mathematics(text: &str) -> Result<Value> {
    let tokens = tokens(text)?;
    let listed = listed(&tokens);
    let mut parser =
        Parser { text, tokens, listed, at: 0, depth: 0, operations: 0, inside_bars: false };
    let value = parser.answer()?;
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(Unreadable("more after a complete answer")),
    }
}

/// Tells for each opening bracket whether a separator is directly inside it.
fn listed(tokens: &[Token]) -> Vec<bool> {
    let mut listed = vec![false; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open(_) => open.push(at),
            Kind::Close(_) => {
                open.pop();
            }
            Kind::Separator => {
                if let Some(&opened) = open.last() {
                    listed[opened] = true;
                }
            }
            _ => {}
        }
    }
    listed
}

pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    listed: Vec<bool>,
    at: usize,
    depth: usize,
    operations: usize,
    /// True between the bars of an absolute value, where the next bar closes it.
    pub(crate) inside_bars: bool,
}

impl<'a> Parser<'a> {
    pub(crate) fn peek(&self) -> Option<&Kind<'a>> {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> Option<&Kind<'a>> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    pub(crate) fn is_spaced(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.spaced)
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.listed.get(self.at).copied().unwrap_or(false)
    }

    pub(crate) fn next(&mut self) -> Option<Kind<'a>> {
        let kind = self.tokens.get(self.at)?.kind.clone();
        self.at += 1;
        Some(kind)
    }

    pub(crate) fn eat(&mut self, kind: &Kind) -> bool {
        let found = self.peek() == Some(kind);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, kind: &Kind) -> Result<()> {
        if self.eat(kind) { Ok(()) } else { Err(Unreadable("something is not closed")) }
    }

    /// Counts an operator or factor.
    pub(crate) fn operate(&mut self) -> Result<()> {
        self.operations += 1;
        if self.operations > limits::OPERATIONS_MAX {
            return Err(Unreadable("too long an expression"));
        }
        Ok(())
    }

    /// Goes one level deeper for the time of `read`.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= limits::DEPTH_MAX {
            return Err(Unreadable("nested too deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn answer(&mut self) -> Result<Value> {
        let mut items = self.items()?;
        match items.len() {
            1 => Ok(items.remove(0)),
            _ => Ok(Value::Set(items)),
        }
    }

    fn items(&mut self) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        loop {
            match self.deeper(Self::item)? {
                Value::Scalar(scalar) => {
                    match scalar.expression.signs() {
                        Some(both) => items.extend(both.map(|expression| {
                            Value::Scalar(Scalar { expression, ..scalar.clone() })
                        })),
                        None => items.push(Value::Scalar(scalar)),
                    }
                }
                Value::Equation { left, right } => match right.expression.signs() {
                    Some(both) => items.extend(both.map(|expression| Value::Equation {
                        left: left.clone(),
                        right: Scalar { expression, ..right.clone() },
                    })),
                    None => items.push(Value::Equation { left, right }),
                },
                other => items.push(other),
            }
            // `1, and 2` is one separator.
            if !self.eat(&Kind::Separator) {
                return Ok(items);
            }
            self.eat(&Kind::Separator);
        }
    }

    /// Sides and the relations between them.
    fn item(&mut self) -> Result<Value> {
        self.skip_words_before_equal();
        let mut sides = vec![self.side()?];
        let mut relations = Vec::new();
        while let Some(
            kind @ (Kind::Equal
            | Kind::Less
            | Kind::LessEqual
            | Kind::Greater
            | Kind::GreaterEqual
            | Kind::In),
        ) = self.peek()
        {
            relations.push(kind.clone());
            self.at += 1;
            self.operate()?;
            sides.push(self.side()?);
        }
        relate(sides, &relations)
    }

    /// `\text{Area} = 5` is 5.
    fn skip_words_before_equal(&mut self) {
        let words = self.tokens[self.at..]
            .iter()
            .take_while(|token| matches!(token.kind, Kind::Word(_)))
            .count();
        if words > 0 && self.peek_at(words) == Some(&Kind::Equal) {
            self.at += words + 1;
        }
    }

    fn side(&mut self) -> Result<Value> {
        let first = self.compound()?;
        if self.peek() != Some(&Kind::Union) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(&Kind::Union) {
            self.operate()?;
            parts.push(self.compound()?);
        }
        Ok(Value::Union(parts))
    }

    fn compound(&mut self) -> Result<Value> {
        match (self.peek(), self.peek_at(1)) {
            (Some(Kind::EmptySet), _) => {
                self.at += 1;
                Ok(Value::Set(Vec::new()))
            }
            (Some(Kind::Begin), _) => self.matrix(),
            (Some(Kind::Open('(' | '[')), Some(Kind::Begin)) => {
                self.at += 1;
                let matrix = self.matrix()?;
                match self.next() {
                    Some(Kind::Close(')' | ']')) => Ok(matrix),
                    _ => Err(Unreadable("something is not closed")),
                }
            }
            (Some(Kind::Open('s')), Some(Kind::Close('s'))) => {
                self.at += 2;
                Ok(Value::Set(Vec::new()))
            }
            (Some(Kind::Open('s')), _) => self.bracketed(),
            (Some(Kind::Open('{' | '(' | '[')), _) if self.is_listed() => self.bracketed(),
            (Some(Kind::Atom(Atom::Symbol(symbol))), Some(Kind::Open('(')))
                if matches!(symbol.letter, 'f' | 'g' | 'h') =>
            {
                let letter = symbol.letter;
                let start = self.at;
                self.at += 1;
                let argument = self.deeper(Self::atom)?;
                if self.peek() == Some(&Kind::Equal) {
                    return Ok(Value::scalar(Expression::Named(letter, Box::new(argument))));
                }
                self.at = start;
                self.scalar().map(Value::Scalar)
            }
            _ => self.scalar().map(Value::Scalar),
        }
    }

    fn bracketed(&mut self) -> Result<Value> {
        let Some(Kind::Open(open)) = self.next() else {
            return Err(Unreadable("a bracket was expected"));
        };
        let items = self.deeper(Self::items)?;
        let close = match self.next() {
            Some(Kind::Close(close)) => close,
            _ => return Err(Unreadable("something is not closed")),
        };
        match (open, close) {
            ('s', 's') | ('{', '}') => Ok(Value::Set(items)),
            ('(' | '[', ')' | ']') => Ok(rows(items, open, close)),
            _ => Err(Unreadable("brackets that do not match")),
        }
    }

    fn matrix(&mut self) -> Result<Value> {
        self.expect(&Kind::Begin)?;
        let mut rows = vec![Vec::new()];
        while !self.eat(&Kind::End) {
            self.operate()?;
            let cell = self.deeper(Self::item)?;
            if let Some(row) = rows.last_mut() {
                row.push(cell);
            }
            match self.peek() {
                Some(Kind::Cell) => self.at += 1,
                Some(Kind::Row) => {
                    self.at += 1;
                    if self.peek() != Some(&Kind::End) {
                        rows.push(Vec::new());
                    }
                }
                Some(Kind::End) => {}
                _ => return Err(Unreadable("a matrix that is not closed")),
            }
        }
        Ok(Value::Matrix(rows))
    }

    /// An expression with what measures it: a currency before, a factor, a percent sign or a unit
    /// behind.
    pub(crate) fn scalar(&mut self) -> Result<Scalar> {
        let negative =
            self.peek() == Some(&Kind::Minus) && self.peek_at(1) == Some(&Kind::Currency);
        self.at += usize::from(negative);
        let currency = self.currency();
        let mut expression = self.deeper(Self::expression)?;
        if negative {
            expression = Expression::Negate(Box::new(expression));
        }
        while let Some(Kind::Scale(factor)) = self.peek() {
            let factor = Expression::integer(*factor);
            self.at += 1;
            self.operate()?;
            expression = Expression::Product(Box::new(expression), Box::new(factor));
        }
        let percent = self.eat(&Kind::Percent)
            || (matches!(self.peek(), Some(Kind::Word("percent" | "percents")))
                && self.next().is_some());
        if percent {
            expression = hundredth(expression);
        }
        let unit = self.unit().or(currency);
        Ok(Scalar { expression, unit, percent })
    }

    fn currency(&mut self) -> Option<Unit> {
        let start = self.tokens.get(self.at)?.start;
        if !self.eat(&Kind::Currency) {
            return None;
        }
        match self.text[start..].trim_start_matches('\\').chars().next()? {
            '$' => Unit::parse("dollar"),
            sign => Unit::parse(sign.encode_utf8(&mut [0; 4])),
        }
    }

    fn unit(&mut self) -> Option<Unit> {
        let token = self.tokens.get(self.at)?;
        let start = token.start;
        if !(matches!(token.kind, Kind::Word(_) | Kind::Currency) || self.is_unit_letter()) {
            return None;
        }
        let mut groups = 0_usize;
        while let Some(kind) = self.peek() {
            match kind {
                Kind::Open('{') => groups += 1,
                Kind::Close('}') if groups > 0 => groups -= 1,
                Kind::Number(_) | Kind::Minus
                    if matches!(
                        self.tokens[self.at - 1].kind,
                        Kind::Power | Kind::Open('{') | Kind::Minus
                    ) => {}
                Kind::Word(_)
                | Kind::Currency
                | Kind::Atom(_)
                | Kind::Times
                | Kind::Divide
                | Kind::Power => {}
                _ => break,
            }
            self.at += 1;
        }
        let end = self.tokens.get(self.at).map_or(self.text.len(), |token| token.start);
        Unit::parse(&self.text[start..end])
    }

    /// A letter that stands for a unit and no variable: `5 m`, `5 m/s`, `5 m²`, but neither `5m` nor
    /// `5 m + 1`.
    pub(crate) fn is_unit_letter(&self) -> bool {
        let letter = |kind: Option<&Kind>| {
            matches!(kind, Some(Kind::Atom(Atom::Symbol(symbol)))
                if matches!(symbol.letter, 'm' | 's' | 'g' | 'h' | 'L'))
        };
        let behind_number = self.at > 0
            && matches!(self.tokens[self.at - 1].kind, Kind::Number(_) | Kind::Decimal(_));
        if !(letter(self.peek()) && self.is_spaced() && behind_number) {
            return false;
        }
        match (self.peek_at(1), self.peek_at(2)) {
            (None | Some(Kind::Separator), _) => true,
            (Some(Kind::Divide), unit) => letter(unit) || matches!(unit, Some(Kind::Word(_))),
            (Some(Kind::Power), Some(Kind::Number(_))) => {
                matches!(self.peek_at(3), None | Some(Kind::Separator))
            }
            _ => false,
        }
    }
}

fn hundredth(expression: Expression) -> Expression {
    let scale = |value: BigRational| value / BigRational::from_integer(100.into());
    match expression {
        Expression::Number(value) => Expression::Number(scale(value)),
        Expression::Decimal(value) => Expression::Decimal(scale(value)),
        other => Expression::Quotient(Box::new(other), Box::new(Expression::integer(100))),
    }
}

/// `[[1, 2], [3, 4]]` is a matrix, any other list in brackets a point or an interval.
fn rows(items: Vec<Value>, open: char, close: char) -> Value {
    let is_row = |item: &Value| matches!(item, Value::Sequence { open: '[', close: ']', .. });
    if (open, close) != ('[', ']') || !items.iter().all(is_row) {
        return Value::Sequence { open, close, items };
    }
    let cells = items.into_iter().filter_map(|item| match item {
        Value::Sequence { items, .. } => Some(items),
        _ => None,
    });
    Value::Matrix(cells.collect())
}

fn relate(mut sides: Vec<Value>, relations: &[Kind]) -> Result<Value> {
    let unusable = Err(Unreadable("a relation that is neither an equation nor an interval"));
    if relations.is_empty() {
        return Ok(sides.remove(0));
    }
    if relations == [Kind::In] {
        return Ok(sides.remove(1));
    }
    if relations.iter().all(|relation| *relation == Kind::Equal) {
        return equation(sides);
    }
    let mut scalars = Vec::new();
    for side in sides {
        match side {
            Value::Scalar(scalar) => scalars.push(scalar),
            _ => return unusable,
        }
    }
    let mut relations: Vec<Kind> = relations.to_vec();
    if relations.iter().all(|relation| matches!(relation, Kind::Greater | Kind::GreaterEqual)) {
        scalars.reverse();
        relations.reverse();
    } else if !relations.iter().all(|relation| matches!(relation, Kind::Less | Kind::LessEqual)) {
        return unusable;
    }
    let closed = |relation: &Kind| matches!(relation, Kind::LessEqual | Kind::GreaterEqual);
    let symbol = |scalar: &Scalar| scalar.expression.is_symbol();
    let infinity = || Value::scalar(Expression::Infinity);
    let interval = |open, close, items| Ok(Value::Sequence { open, close, items });
    let opening = if closed(&relations[0]) { '[' } else { '(' };
    let closing = if relations.last().is_some_and(closed) { ']' } else { ')' };
    match scalars.as_slice() {
        [low, x] if symbol(x) => {
            interval(opening, ')', vec![Value::Scalar(low.clone()), infinity()])
        }
        [x, high] if symbol(x) => {
            let all = Value::scalar(Expression::Negate(Box::new(Expression::Infinity)));
            interval('(', closing, vec![all, Value::Scalar(high.clone())])
        }
        [low, x, high] if symbol(x) => {
            let items = vec![Value::Scalar(low.clone()), Value::Scalar(high.clone())];
            interval(opening, closing, items)
        }
        _ => unusable,
    }
}

/// The first and the last side. An equation without variables, such as `16 - 7 = 9`, has the value of its
/// last side.
fn equation(mut sides: Vec<Value>) -> Result<Value> {
    let last = sides.pop().ok_or(Unreadable("an equation without sides"))?;
    let first = sides.swap_remove(0);
    match (first, last) {
        (Value::Scalar(first), last) if first.expression.is_symbol() => match last {
            Value::Scalar(right) => Ok(Value::Equation { left: first.expression, right }),
            other => Ok(other),
        },
        (Value::Scalar(first), Value::Scalar(last)) => {
            let symbols = first.expression.has_symbols() || last.expression.has_symbols();
            match symbols {
                true => Ok(Value::Equation { left: first.expression, right: last }),
                false => Ok(Value::Scalar(last)),
            }
        }
        _ => Err(Unreadable("a relation that is neither an equation nor an interval")),
    }
}
