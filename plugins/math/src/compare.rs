//! Whether two values are the same answer: exactly first, then numerically. Symmetric in its two
//! sides.
//!
//! The rules, with what `strict` takes away in brackets:
//! - Whole numbers, fractions, roots, multiples of pi and polynomials are compared exactly. The
//!   tolerance applies where a side is written as a decimal; where a side has no exact form they are
//!   compared to the precision of floating-point numbers, with variables at fixed points.
//! - A unit missing on one side is ignored [never]; two units must measure the same and convert.
//! - A percentage is its hundredth; where only one side has the sign, `50` is `50%` too [never].
//! - `x = 5` is `5`, `\{5\}` is `5`, `3 : 4` is `3/4` [never]; two equations are equal up to rearrangement
//!   and a rational factor, two inequalities up to a positive one.
//! - Sets, unbracketed lists and unions have no order; points, intervals and matrices do. Values under
//!   different names keep their names, and have the names' order where the other side has none [never].
//! - Conditions that both sides state of a variable must agree.

use num_bigint::BigInt;
use num_rational::BigRational;

use crate::algebra::degrees;
use crate::condition;
use crate::equal::Equal;
use crate::expression::Expression;
use crate::limits;
use crate::modulus::congruent;
use crate::moment::Moment;
use crate::near::{expressions, may_be_zero};
use crate::polynomial::{Atom, Symbol, Work};
use crate::relate::same_inequality;
use crate::settings::Settings;
use crate::units::Unit;
use crate::value::{Condition, Name, Order, Scalar, Value};

pub(crate) fn compare(left: &Value, right: &Value, settings: &Settings) -> Option<Equal> {
    match (left, right) {
        (
            Value::Given { value, conditions },
            Value::Given { value: there, conditions: conditions_there },
        ) => {
            let (there, conditions_there) =
                condition::renamed((value, conditions), (there, conditions_there));
            conditions_agree(conditions, &conditions_there, settings)
                .then(|| compare(value, &there, settings))?
        }
        (Value::Given { value, .. }, other) | (other, Value::Given { value, .. }) => {
            compare(value, other, settings)
        }
        (Value::Named { name, value }, Value::Named { name: name_there, value: value_there }) => {
            (name == name_there).then(|| compare(value, value_there, settings))?
        }
        (Value::Text(left), Value::Text(right)) => (left == right).then_some(Equal::AsText),
        (Value::Choice(left), Value::Choice(right)) => (left == right).then_some(Equal::AsChoice),
        (Value::Scalar(left), Value::Scalar(right)) => scalars(left, right, settings),
        (
            Value::Equation { left, right },
            Value::Equation { left: left_there, right: right_there },
        ) => equations((left, right), (left_there, right_there), settings),
        (Value::Set(left), Value::Set(right)) => match (assigned(left), assigned(right)) {
            (Some(here), None) if !settings.strict => unnamed(&here.values, right, settings),
            (None, Some(there)) if !settings.strict => unnamed(&there.values, left, settings),
            (Some(here), Some(there)) if !settings.strict && here.is_worded_unlike(&there) => {
                ordered(&here.values, &there.values, settings)
                    .map(|equal| equal.max(Equal::Unnamed))
            }
            _ => unordered(left, right, settings),
        },
        (Value::Union(left), Value::Union(right)) => unordered(left, right, settings),
        (
            Value::Sequence { open, close, items },
            Value::Sequence { open: open_there, close: close_there, items: items_there },
        ) => {
            let brackets = (open, close) == (open_there, close_there);
            brackets.then(|| ordered(items, items_there, settings))?
        }
        (Value::Matrix(left), Value::Matrix(right)) => {
            if left.len() != right.len() {
                return None;
            }
            let rows = left.iter().zip(right).map(|(left, right)| ordered(left, right, settings));
            weakest(rows)
        }
        (
            Value::Chain { sides, orders },
            Value::Chain { sides: sides_there, orders: orders_there },
        ) => chains((sides, orders), (sides_there, orders_there), settings),
        (Value::Ratio(left), Value::Ratio(right)) => ratios(left, right, settings),
        (Value::Moment(left), Value::Moment(right)) => left.agrees(right).then_some(Equal::Exactly),
        _ if settings.strict => None,
        _ => loosely(left, right, settings).or_else(|| loosely(right, left, settings)),
    }
}

/// The left value in another form that the right may have; each rule once.
fn loosely(left: &Value, right: &Value, settings: &Settings) -> Option<Equal> {
    let equal = match (left, right) {
        (Value::Equation { left: name, right: value }, other)
            if name.is_name() && !matches!(other, Value::Set(_)) =>
        {
            compare(&Value::Scalar(value.clone()), other, settings)
        }
        (Value::Named { value, .. }, other) => compare(value, other, settings),
        (Value::Set(items), Value::Sequence { open: '(', close: ')', items: there })
            if !settings.lists_as_points =>
        {
            unnamed(&assigned(items)?.values, there, settings)
        }
        (Value::Set(items), Value::Sequence { open: '(', close: ')', items: there })
            if settings.lists_as_points =>
        {
            ordered(items, there, settings)
        }
        (Value::Set(items), other) => match items.as_slice() {
            [item] if !matches!(item, Value::Set(_)) => compare(item, other, settings),
            _ => None,
        },
        (Value::Matrix(rows), Value::Sequence { open: '(', close: ')', items }) => {
            let column = rows.iter().all(|row| row.len() == 1) && rows.len() == items.len();
            let entries = rows.iter().flatten().zip(items);
            column
                .then(|| weakest(entries.map(|(left, right)| compare(left, right, settings))))
                .flatten()
        }
        (Value::Ratio(parts), Value::Scalar(scalar)) => quotient(parts, scalar, settings),
        (Value::Moment(moment), Value::Ratio(parts)) => {
            ratios(&hours_and_minutes(moment)?, parts, settings)
        }
        (Value::Moment(moment), Value::Scalar(scalar)) => {
            let fraction =
                !matches!(&scalar.expression, Expression::Number(value) if value.is_integer());
            let parts = hours_and_minutes(moment).filter(|_| fraction)?;
            quotient(&parts, scalar, settings)
        }
        _ => None,
    };
    equal.map(|equal| equal.max(Equal::Unnamed))
}

/// `3:4` is `3/4`.
fn quotient(parts: &[Expression], scalar: &Scalar, settings: &Settings) -> Option<Equal> {
    let [over, under] = parts else { return None };
    let quotient = Expression::Quotient(Box::new(over.clone()), Box::new(under.clone()));
    expressions(&quotient, &scalar.expression, settings)
}

/// `7:32` alone may be a time or a ratio. `12:02`, with a zero that no ratio has, is a time.
fn hours_and_minutes(moment: &Moment) -> Option<Vec<Expression>> {
    let minutes = moment.minutes.filter(|_| moment.half.is_none() && moment.day.is_none())?;
    let parts = [minutes / 60, minutes % 60];
    (parts[0] > 0 && parts[1] >= 10)
        .then(|| parts.map(|part| Expression::integer(part.into())).to_vec())
}

/// The values of a list and their names.
struct Assigned {
    names: Vec<Name>,
    values: Vec<Value>,
}

impl Assigned {
    /// Whether the names of a side are words, and no name is the same: the values have the order of the names then.
    fn is_worded_unlike(&self, other: &Self) -> bool {
        let worded = |side: &Self| side.names.iter().all(|name| matches!(name, Name::Words(_)));
        let shares = self.names.iter().any(|name| other.names.contains(name));
        (worded(self) || worded(other)) && !shares
    }
}

/// The values of `x = 1, y = 2`, where all names differ by more than an index.
fn assigned(items: &[Value]) -> Option<Assigned> {
    let mut assigned = Assigned { names: Vec::new(), values: Vec::new() };
    for item in items {
        let (name, value) = match item {
            Value::Equation { left, right } if left.is_name() => {
                (Name::Variable(left.clone()), Value::Scalar(right.clone()))
            }
            Value::Named { name, value } => (name.clone(), (**value).clone()),
            _ => return None,
        };
        let name = match name {
            Name::Variable(Expression::Atom(Atom::Symbol(symbol))) => {
                Name::Variable(Expression::Atom(Atom::Symbol(Symbol::new(symbol.letter))))
            }
            name => name,
        };
        if assigned.names.contains(&name) {
            return None;
        }
        assigned.names.push(name);
        assigned.values.push(value);
    }
    (assigned.values.len() > 1).then_some(assigned)
}

/// Values in the order of their names against the same without names.
fn unnamed(values: &[Value], bare: &[Value], settings: &Settings) -> Option<Equal> {
    if bare.iter().any(|item| matches!(item, Value::Equation { .. } | Value::Named { .. })) {
        return None;
    }
    ordered(values, bare, settings).map(|equal| equal.max(Equal::Unnamed))
}

fn chains(
    left: (&[Expression], &[Order]),
    right: (&[Expression], &[Order]),
    settings: &Settings,
) -> Option<Equal> {
    if left.1 != right.1 {
        return None;
    }
    if let (&[first, second], &[there, second_there]) = (&pair(left.0)?, &pair(right.0)?)
        && left.0.len() == 2
        && same_inequality((first, second), (there, second_there))
    {
        return Some(Equal::Proportional);
    }
    if left.0.len() != right.0.len() {
        return None;
    }
    let sides = left.0.iter().zip(right.0);
    weakest(sides.map(|(left, right)| expressions(left, right, settings)))
}

fn pair(sides: &[Expression]) -> Option<[&Expression; 2]> {
    Some([sides.first()?, sides.get(1)?])
}

/// `6:8` is `3:4`; with a zero among the parts, only what is written alike is equal.
fn ratios(left: &[Expression], right: &[Expression], settings: &Settings) -> Option<Equal> {
    if left.len() != right.len() {
        return None;
    }
    if left.iter().chain(right).any(may_be_zero) {
        let parts = left.iter().zip(right);
        return weakest(parts.map(|(left, right)| expressions(left, right, settings)));
    }
    let cross = |part: &Expression, by: &Expression| {
        Expression::Product(Box::new(part.clone()), Box::new(by.clone()))
    };
    weakest(left.iter().zip(right).map(|(part, there)| {
        expressions(&cross(part, right.first()?), &cross(there, left.first()?), settings)
    }))
}

fn weakest(results: impl Iterator<Item = Option<Equal>>) -> Option<Equal> {
    results.into_iter().try_fold(Equal::Written, |weakest, result| Some(weakest.max(result?)))
}

fn ordered(left: &[Value], right: &[Value], settings: &Settings) -> Option<Equal> {
    if left.len() != right.len() {
        return None;
    }
    weakest(left.iter().zip(right).map(|(left, right)| compare(left, right, settings)))
}

fn unordered(left: &[Value], right: &[Value], settings: &Settings) -> Option<Equal> {
    if left.len() != right.len() {
        // Points have no multiplicity, as roots may have.
        let points =
            |items: &[Value]| items.iter().all(|item| matches!(item, Value::Sequence { .. }));
        let few = left.len().max(right.len()) <= limits::SET_MAX;
        let (once, once_there) =
            (few && points(left) && points(right)).then(|| (distinct(left), distinct(right)))?;
        let shorter = once.len() < left.len() || once_there.len() < right.len();
        return (shorter && once.len() == once_there.len())
            .then(|| unordered(&once, &once_there, settings))?;
    }
    if left.len() > limits::SET_MAX {
        return ordered(left, right, settings);
    }
    let mut free: Vec<&Value> = right.iter().collect();
    weakest(left.iter().map(|item| {
        // Most members stand as they are on the other side, which costs nothing to see.
        if let Some(at) = free.iter().position(|other| *other == item) {
            free.remove(at);
            return Some(Equal::Written);
        }
        let mut best: Option<(Equal, usize)> = None;
        for (at, other) in free.iter().enumerate() {
            let found = compare(item, other, settings).map(|equal| (equal, at));
            best = [best, found].into_iter().flatten().min();
            if best.is_some_and(|(equal, _)| equal <= Equal::Exactly) {
                break;
            }
        }
        let (equal, at) = best?;
        free.remove(at);
        Some(equal)
    }))
}

fn distinct(items: &[Value]) -> Vec<Value> {
    let mut once: Vec<Value> = Vec::new();
    for item in items {
        if !once.contains(item) {
            once.push(item.clone());
        }
    }
    once
}

fn scalars(left: &Scalar, right: &Scalar, settings: &Settings) -> Option<Equal> {
    let equal = measured(left, right, settings);
    if equal.is_some() {
        return equal;
    }
    let side = |scalar: &Scalar| {
        let expression = scalar.rounded.as_deref()?.clone();
        Some(Scalar { expression, rounded: None, ..scalar.clone() })
    };
    let (rounded, rounded_there) = (side(left), side(right));
    let equal = rounded
        .and_then(|rounded| measured(&rounded, right, settings))
        .or_else(|| measured(left, &rounded_there?, settings));
    equal.map(|_| Equal::Rounded)
}

fn measured(left: &Scalar, right: &Scalar, settings: &Settings) -> Option<Equal> {
    if settings.strict
        && (left.percent != right.percent || left.unit.is_some() != right.unit.is_some())
    {
        return None;
    }
    // `5\%` is not 5 dollars.
    let amount = |scalar: &Scalar| scalar.unit.as_ref().is_some_and(Unit::is_known);
    if left.percent != right.percent && (amount(left) || amount(right)) {
        return None;
    }
    if congruent(left, right) {
        return Some(Equal::Exactly);
    }
    if let Some((left, right)) = angles(left, right) {
        return expressions(&left, &right, settings).map(|equal| equal.max(Equal::Converted));
    }
    let equal = match (&left.unit, &right.unit) {
        (Some(unit), Some(unit_there)) if unit != unit_there => {
            if !unit.measures_as(unit_there) {
                return None;
            }
            let (left, right) =
                (scaled(&left.expression, unit), scaled(&right.expression, unit_there));
            expressions(&left, &right, settings).map(|equal| equal.max(Equal::Converted))
        }
        _ => expressions(&left.expression, &right.expression, settings),
    };
    if equal.is_some() || left.percent == right.percent {
        return equal;
    }
    let hundredfold = |scalar: &Scalar| match scalar.percent {
        true => product(&scalar.expression, BigRational::from_integer(100.into())),
        false => scalar.expression.clone(),
    };
    expressions(&hundredfold(left), &hundredfold(right), settings)
        .map(|equal| equal.max(Equal::Hundredfold))
}

/// Both sides in radians, where one is in degrees and the other in radians, which a multiple of pi needs not say.
fn angles(left: &Scalar, right: &Scalar) -> Option<(Expression, Expression)> {
    let in_degrees = |scalar: &Scalar| scalar.unit.as_ref().is_some_and(Unit::is_degree);
    if in_degrees(left) == in_degrees(right) {
        return None;
    }
    let is_pi = |expression: &Expression| *expression == Expression::Atom(Atom::Pi);
    let radians = |scalar: &Scalar| match &scalar.unit {
        Some(unit) if unit.is_degree() => Some(degrees(scalar.expression.clone())),
        Some(unit) if unit.is_radian() => Some(scalar.expression.clone()),
        None if scalar.expression.any(&is_pi) => Some(scalar.expression.clone()),
        _ => None,
    };
    Some((radians(left)?, radians(right)?))
}

fn product(expression: &Expression, factor: BigRational) -> Expression {
    Expression::Product(Box::new(expression.clone()), Box::new(Expression::Number(factor)))
}

fn scaled(expression: &Expression, unit: &Unit) -> Expression {
    let (numerator, denominator) = (*unit.factor.numer(), *unit.factor.denom());
    product(expression, BigRational::new(BigInt::from(numerator), BigInt::from(denominator)))
}

fn equations(
    left: (&Expression, &Scalar),
    right: (&Expression, &Scalar),
    settings: &Settings,
) -> Option<Equal> {
    let indexed = || !settings.strict && same_but_index(left.0, right.0);
    if left.0 == right.0 || same_function(left, right) || indexed() {
        return scalars(left.1, right.1, settings);
    }
    let mut work = Work::new();
    let mut difference = |(side, value): (&Expression, &Scalar)| {
        let value = value.expression.exact(&mut work)?;
        side.exact(&mut work)?.subtract(value, &mut work)
    };
    let (left, right) = (difference(left)?, difference(right)?);
    left.numerator.ratio(&right.numerator).map(|_| Equal::Proportional)
}

/// Whether one is the other with a number: `x_1 = 2, x_2 = 3` are the values of `x`.
fn same_but_index(left: &Expression, right: &Expression) -> bool {
    let (Expression::Atom(Atom::Symbol(left)), Expression::Atom(Atom::Symbol(right))) =
        (left, right)
    else {
        return false;
    };
    let counts = |index: &str| index.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    let (index, there) = (left.index(), right.index());
    left.letter == right.letter
        && index.is_empty() != there.is_empty()
        && counts(index)
        && counts(there)
}

/// `W(n) = 1` is `W(x) = 1`: the argument of a constant does not matter.
fn same_function(left: (&Expression, &Scalar), right: (&Expression, &Scalar)) -> bool {
    let (Expression::Named(name, argument), Expression::Named(there, argument_there)) =
        (left.0, right.0)
    else {
        return false;
    };
    let constant = !left.1.expression.has_symbols() && !right.1.expression.has_symbols();
    name == there && constant && argument.is_symbol() && argument_there.is_symbol()
}

/// Whether the conditions that both sides state of one variable are the same.
fn conditions_agree(left: &[Condition], right: &[Condition], settings: &Settings) -> bool {
    left.iter().all(|condition| {
        let mut others = right.iter().filter(|other| other.variable == condition.variable);
        others.all(|other| match (&condition.domain, &other.domain) {
            (Some(here), Some(there)) => {
                let whole = here.is_whole_numbers() || there.is_whole_numbers();
                compare(here, there, settings).is_some()
                    || whole
                        && condition::least(here)
                            .iter()
                            .any(|number| condition::least(there).contains(number))
            }
            _ => true,
        })
    })
}
