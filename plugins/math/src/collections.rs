//! Reads what is made of several values: brackets, intervals, unions, sets, matrices and systems, on the parser
//! of [`crate::parse`].

use crate::expression::Expression;
use crate::kind::{Environment, Kind};
use crate::matrix;
use crate::parse::Parser;
use crate::polynomial::Atom;
use crate::signs::spread;
use crate::unreadable::{Result, Unreadable};
use crate::value::{Scalar, Value, with_names_that_differ};

impl Parser<'_> {
    /// A value with the unions, differences and sums of matrices that follow it.
    pub(crate) fn side(&mut self) -> Result<Value> {
        let mut first = self.product()?;
        while matches!(first, Value::Matrix(_))
            && matches!(self.peek(), Some(Kind::Plus | Kind::Minus))
        {
            let minus = self.next() == Some(Kind::Minus);
            self.operate()?;
            first = matrix::add(first, self.product()?, minus)?;
        }
        let interval = matches!(first, Value::Sequence { .. } | Value::Union(_));
        if interval
            && matches!(self.peek(), Some(Kind::SetMinus | Kind::Minus))
            && self.peek_at(1) == Some(&Kind::Open('s'))
        {
            self.at += 1;
            let Value::Set(without) = self.compound()? else {
                return Err(Unreadable("a difference without a set"));
            };
            first = without_points(first, &without)?;
        }
        if self.peek() != Some(&Kind::Union) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(&Kind::Union) {
            self.operate()?;
            match self.compound()? {
                Value::Union(mut more) => parts.append(&mut more),
                part => parts.push(part),
            }
        }
        // Sets have the members of all.
        if parts.iter().all(|part| matches!(part, Value::Set(_))) {
            let mut members: Vec<Value> = Vec::new();
            for part in parts {
                let Value::Set(items) = part else { continue };
                for item in items {
                    if !members.contains(&item) {
                        members.push(item);
                    }
                }
            }
            return Ok(Value::Set(members));
        }
        Ok(Value::Union(parts))
    }

    /// A value, or a product in which matrices stand.
    fn product(&mut self) -> Result<Value> {
        let mut product = self.compound()?;
        loop {
            let times = self.peek() == Some(&Kind::Times);
            if !matches!(self.peek_at(usize::from(times)), Some(Kind::Begin(Environment::Matrix))) {
                return Ok(product);
            }
            self.at += usize::from(times);
            self.operate()?;
            product = matrix::multiply(product, self.matrix()?)?;
        }
    }

    pub(crate) fn compound(&mut self) -> Result<Value> {
        match (self.peek(), self.peek_at(1)) {
            (Some(Kind::EmptySet), _) => {
                self.at += 1;
                Ok(Value::Set(Vec::new()))
            }
            (Some(Kind::Reals), _) => {
                self.at += 1;
                Ok(Value::reals())
            }
            (Some(Kind::Begin(Environment::Rows)), _) => self.system(),
            (Some(Kind::Begin(Environment::Determinant)), _) => {
                let rows = self.matrix()?;
                matrix::determinant(rows)
            }
            (Some(Kind::Begin(Environment::Matrix)), _) => self.matrix(),
            (Some(Kind::Open('(' | '[')), Some(Kind::Begin(_))) => {
                self.at += 1;
                let matrix = self.deeper(Self::side)?;
                match self.next() {
                    Some(Kind::Close(')' | ']')) => Ok(matrix),
                    _ => Err(Unreadable("something is not closed")),
                }
            }
            (Some(Kind::Open('s')), Some(Kind::Close('s'))) => {
                self.at += 2;
                Ok(Value::Set(Vec::new()))
            }
            (Some(Kind::Open('s' | '{')), Some(Kind::Begin(Environment::Rows))) => {
                self.at += 1;
                let system = self.system()?;
                let _ = self.eat(&Kind::Close('s')) || self.eat(&Kind::Close('}'));
                Ok(system)
            }
            (Some(Kind::Open('s')), _) => self.bracketed(),
            (Some(Kind::Open('{' | '(' | '[')), _) if self.is_listed() => self.bracketed(),
            (Some(Kind::Atom(Atom::Symbol(symbol))), Some(Kind::Open('(')))
                if symbol.letter.is_uppercase()
                    || matches!(symbol.letter, 'f' | 'g' | 'h' | 'p')
                    || self.is_function_of_one() =>
            {
                let letter = symbol.letter;
                self.function(letter)
            }
            _ => self.scalar().map(Value::Scalar),
        }
    }

    /// Whether one number or variable in brackets and a relation follow the next letter: `q(x) = x^2`. `k(x+1) = 3`
    /// is a product.
    fn is_function_of_one(&self) -> bool {
        let first = self.at == 0 || matches!(self.tokens[self.at - 1].kind, Kind::Separator(_));
        first
            && matches!(self.peek_at(2), Some(Kind::Number(_) | Kind::Atom(_)))
            && self.peek_at(3) == Some(&Kind::Close(')'))
            && self.peek_at(4).is_some_and(crate::relate::is_relation)
    }

    /// `f(2)` before a relation; anywhere else it is a product.
    fn function(&mut self, letter: char) -> Result<Value> {
        let start = self.at;
        self.at += 1;
        let listed = self.is_listed();
        let argument = if listed { None } else { self.deeper(Self::atom).ok() };
        let relates = self.peek().is_some_and(crate::relate::is_relation)
            || (start > 0 && crate::relate::is_relation(&self.tokens[start - 1].kind));
        if let Some(argument) = argument.filter(|_| relates) {
            return Ok(Value::scalar(Expression::Named(letter, Box::new(argument))));
        }
        self.at = start;
        self.scalar().map(Value::Scalar)
    }

    fn bracketed(&mut self) -> Result<Value> {
        let Some(Kind::Open(open)) = self.next() else {
            return Err(Unreadable("a bracket was expected"));
        };
        let builder = open == 's' && self.skip_set_builder();
        let (mut items, more) = self.deeper(Self::items)?;
        let close = match self.next() {
            Some(Kind::Close(close)) if !more => close,
            _ => return Err(Unreadable("something is not closed")),
        };
        match (open, close) {
            ('s', 's') if builder && items.len() == 1 => Ok(items.remove(0).unnamed()),
            ('s', 's') | ('{', '}') => Ok(Value::Set(with_names_that_differ(spread(items)))),
            ('(' | '[', ')' | ']') => Ok(rows(with_names_that_differ(items), open, close)),
            _ => Err(Unreadable("brackets that do not match")),
        }
    }

    /// `x \mid` or `x \in \mathbb{R} :` at the start of a set.
    fn skip_set_builder(&mut self) -> bool {
        if !matches!(self.peek(), Some(Kind::Atom(Atom::Symbol(_)))) {
            return false;
        }
        let mut ahead = 1;
        if self.peek_at(1) == Some(&Kind::In) && self.peek_at(2) == Some(&Kind::Reals) {
            ahead = 3;
        }
        let builds = matches!(self.peek_at(ahead), Some(Kind::Bar | Kind::Colon));
        self.at += if builds { ahead + 1 } else { 0 };
        builds
    }

    pub(crate) fn matrix(&mut self) -> Result<Value> {
        let Some(Kind::Begin(_)) = self.next() else {
            return Err(Unreadable("a matrix was expected"));
        };
        let mut rows = vec![Vec::new()];
        while !self.eat(&Kind::End) {
            self.operate()?;
            let (cell, _) = self.deeper(Self::item)?;
            if let Some(row) = rows.last_mut() {
                row.push(cell.unnamed());
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

    /// The rows of `cases` or `aligned`: equations, or the cells of a function by cases.
    fn system(&mut self) -> Result<Value> {
        self.at += 1;
        let mut rows = vec![Vec::new()];
        self.merge_aligned();
        while !self.eat(&Kind::End) {
            self.operate()?;
            let (item, _) = self.deeper(Self::item)?;
            if let Some(row) = rows.last_mut() {
                row.push(item);
            }
            let mut ended = false;
            while let Some(Kind::Separator(_) | Kind::Cell | Kind::Row) = self.peek() {
                ended |= self.next() == Some(Kind::Row);
            }
            if ended && self.peek() != Some(&Kind::End) {
                rows.push(Vec::new());
            }
            if self.peek().is_none() {
                return Err(Unreadable("rows that do not end"));
            }
        }
        Ok(match rows.iter().all(|row| row.len() == 1) {
            true => Value::Set(with_names_that_differ(rows.into_iter().flatten().collect())),
            false => {
                let cells = |row: Vec<Value>| row.into_iter().map(Value::unnamed).collect();
                Value::Matrix(rows.into_iter().map(cells).collect())
            }
        })
    }

    /// Drops the marks that align signs: `x &= 1`.
    fn merge_aligned(&mut self) {
        let mut at = self.at;
        while at + 1 < self.tokens.len() {
            match self.tokens[at].kind {
                Kind::End | Kind::Begin(_) => return,
                Kind::Cell if crate::relate::is_relation(&self.tokens[at + 1].kind) => {
                    self.remove(at);
                }
                _ => at += 1,
            }
        }
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

/// An interval without some points is a union of intervals.
fn without_points(whole: Value, points: &[Value]) -> Result<Value> {
    let unusable = Err(Unreadable("a difference of more than an interval and points"));
    let Value::Sequence { open, close, items } = whole else { return unusable };
    let [low, high] = items.as_slice() else { return unusable };
    let mut cuts = Vec::new();
    for point in points {
        let Value::Scalar(Scalar { expression, .. }) = point else { return unusable };
        let at = expression.evaluate(&|_| f64::NAN);
        if !at.is_finite() {
            return unusable;
        }
        cuts.push((at, point.clone()));
    }
    cuts.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut parts = Vec::new();
    let (mut start, mut opening) = (low.clone(), open);
    for (_, cut) in cuts {
        parts.push(Value::Sequence { open: opening, close: ')', items: vec![start, cut.clone()] });
        (start, opening) = (cut, '(');
    }
    parts.push(Value::Sequence { open: opening, close, items: vec![start, high.clone()] });
    Ok(Value::Union(parts))
}
