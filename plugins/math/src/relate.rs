//! Values of relations between their sides: equations, intervals, unions, and inequalities that stay as they are.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use crate::expression::Expression;
use crate::function::Function;
use crate::kind::Kind;
use crate::polynomial::{Atom, Work};
use crate::unreadable::{Result, Unreadable};
use crate::value::{Name, Order, Scalar, Value};

const UNUSABLE: Unreadable = Unreadable("a relation that is neither an equation nor an interval");

pub(crate) fn is_relation(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Equal
            | Kind::Approximately
            | Kind::NotEqual
            | Kind::Less
            | Kind::LessEqual
            | Kind::Greater
            | Kind::GreaterEqual
            | Kind::In
    )
}

pub(crate) fn relate(mut sides: Vec<Value>, relations: &[Kind]) -> Result<Value> {
    if relations.is_empty() {
        let side = sides.remove(0);
        // `DNA: 5` is a word and a number.
        if let Value::Ratio(parts) = &side
            && parts.iter().any(Expression::has_symbols)
            && !parts.iter().all(Expression::has_symbols)
        {
            return Err(Unreadable("a ratio of a name and a number"));
        }
        return Ok(side);
    }
    if relations == [Kind::In] {
        let set = sides.remove(1);
        return member(sides.remove(0), set);
    }
    if relations.iter().all(|relation| matches!(relation, Kind::Equal | Kind::Approximately)) {
        return equation(sides, relations);
    }
    let mut scalars = Vec::new();
    for side in sides {
        match side {
            Value::Scalar(scalar) => scalars.push(scalar),
            _ => return Err(UNUSABLE),
        }
    }
    let orders = relations.iter().map(order).collect::<Option<Vec<_>>>().ok_or(UNUSABLE)?;
    let (scalars, orders) = ascending(scalars, orders)?;
    Ok(match (solved(&scalars, &orders), unknown(&scalars)) {
        (Some(value), Some(name)) => {
            Value::Named { name: Name::Variable(name), value: Box::new(value) }
        }
        (Some(value), None) => value,
        (None, _) => Value::Chain {
            sides: scalars.into_iter().map(|scalar| scalar.expression).collect(),
            orders: orders.into_iter().map(|(order, _)| order).collect(),
        },
    })
}

/// `x \in [0, 1]` is the set under a name, `(x, y) \in ...` the set. More than a name before the sign, as in `2k+1 : k
/// \in \mathbb{Z}`, would change the set.
fn member(member: Value, set: Value) -> Result<Value> {
    match member {
        Value::Scalar(Scalar { expression, unit: None, percent: false, .. })
            if expression.is_name() && !matches!(expression, Expression::Call(..)) =>
        {
            Ok(Value::Named { name: Name::Variable(expression), value: Box::new(set) })
        }
        Value::Sequence { .. } if names(&member) => Ok(set),
        _ => Err(Unreadable("a member that is no variable")),
    }
}

/// The variable that an inequality is solved for.
fn unknown(sides: &[Scalar]) -> Option<Expression> {
    let first = |wanted: fn(&Scalar) -> bool| {
        sides.iter().find(|side| wanted(side)).map(|side| side.expression.clone())
    };
    first(is_unknown).or_else(|| first(is_variable)).or_else(|| {
        let mut symbols = BTreeSet::new();
        sides.iter().for_each(|side| side.expression.collect_symbols(&mut symbols));
        let only = symbols.pop_first().filter(|_| symbols.is_empty())?;
        Some(Expression::Atom(Atom::Symbol(only)))
    })
}

/// The order, and whether it descends.
fn order(kind: &Kind) -> Option<(Order, bool)> {
    Some(match kind {
        Kind::Less => (Order::Less, false),
        Kind::LessEqual => (Order::LessEqual, false),
        Kind::Greater => (Order::Less, true),
        Kind::GreaterEqual => (Order::LessEqual, true),
        Kind::NotEqual => (Order::NotEqual, false),
        Kind::Equal => (Order::Equal, false),
        _ => return None,
    })
}

type Ordered = (Vec<Scalar>, Vec<(Order, bool)>);

/// The same chain with the smallest side first.
fn ascending(mut scalars: Vec<Scalar>, mut orders: Vec<(Order, bool)>) -> Result<Ordered> {
    let turns = orders.iter().any(|(_, descends)| *descends);
    let stays = orders
        .iter()
        .any(|(order, descends)| !descends && matches!(order, Order::Less | Order::LessEqual));
    if turns && stays {
        return Err(UNUSABLE);
    }
    if turns {
        scalars.reverse();
        orders.reverse();
    }
    Ok((scalars, orders))
}

/// The interval or union of one variable.
fn solved(sides: &[Scalar], orders: &[(Order, bool)]) -> Option<Value> {
    let value = |scalar: &Scalar| Value::Scalar(scalar.clone());
    let closed = |order: Order| order == Order::LessEqual;
    let interval = |open: bool, low: Value, high: Value, close: bool| Value::Sequence {
        open: if open { '(' } else { '[' },
        close: if close { ')' } else { ']' },
        items: vec![low, high],
    };
    match (sides, orders) {
        ([left, right], [(Order::NotEqual, _)]) => {
            let bound = match (is_variable(left), is_variable(right)) {
                (true, _) => value(right),
                (_, true) => value(left),
                _ => return None,
            };
            Some(Value::Union(vec![
                interval(true, infinity(true), bound.clone(), true),
                interval(true, bound, infinity(false), true),
            ]))
        }
        ([_, _], [(Order::Equal, _)]) => None,
        // `a < b` bounds neither.
        ([left, right], [_])
            if is_variable(left) && is_variable(right) && is_unknown(left) == is_unknown(right) =>
        {
            None
        }
        ([left, right], [(order, _)]) => {
            let open = !closed(*order);
            // In `x < a` the parameter is the bound.
            if is_variable(right) && !is_unknown(left) {
                return Some(interval(open, value(left), infinity(false), true));
            }
            if is_variable(left) {
                return Some(interval(true, infinity(true), value(right), open));
            }
            if is_magnitude(left) {
                return Some(interval(open, negative(right), value(right), open));
            }
            if is_magnitude(right) {
                return Some(Value::Union(vec![
                    interval(true, infinity(true), negative(left), open),
                    interval(open, value(left), infinity(false), true),
                ]));
            }
            linear(left, right, open)
        }
        ([low, middle, high], [(first, _), (second, _)]) => {
            let ordered = |order: &Order| matches!(order, Order::Less | Order::LessEqual);
            if !ordered(first) || !ordered(second) {
                return None;
            }
            let (open, close) = (!closed(*first), !closed(*second));
            if is_variable(middle) {
                return Some(interval(open, value(low), value(high), close));
            }
            is_magnitude(middle).then(|| {
                Value::Union(vec![
                    interval(close, negative(high), negative(low), open),
                    interval(open, value(low), value(high), close),
                ])
            })
        }
        _ => None,
    }
}

/// `left < right` where their difference is linear in one variable with rational numbers.
fn linear(left: &Scalar, right: &Scalar, open: bool) -> Option<Value> {
    let mut work = Work::new();
    let (over, under) = (left.expression.exact(&mut work)?, right.expression.exact(&mut work)?);
    let difference = over.subtract(under, &mut work)?;
    let scale = difference.denominator.as_number()?;
    let (factor, constant) = difference.numerator.linear()?;
    let (factor, constant) = (factor / &scale, constant / &scale);
    let bound = Value::scalar(Expression::Number(-constant / &factor));
    let (low, high) = ('(', ')');
    Some(match factor.is_positive() {
        true => Value::Sequence {
            open: low,
            close: if open { high } else { ']' },
            items: vec![infinity(true), bound],
        },
        false => Value::Sequence {
            open: if open { low } else { '[' },
            close: high,
            items: vec![bound, infinity(false)],
        },
    })
}

fn is_variable(scalar: &Scalar) -> bool {
    scalar.expression.is_symbol()
}

/// Whether it is a variable that is commonly solved for, rather than a parameter.
fn is_unknown(scalar: &Scalar) -> bool {
    matches!(&scalar.expression, Expression::Atom(Atom::Symbol(symbol))
        if matches!(symbol.letter, 'x' | 'y' | 'z' | 't'))
}

fn is_magnitude(scalar: &Scalar) -> bool {
    matches!(&scalar.expression, Expression::Call(Function::Abs, inner) if inner.is_symbol())
}

fn infinity(negative: bool) -> Value {
    Value::infinity(negative)
}

fn negative(scalar: &Scalar) -> Value {
    let expression = match &scalar.expression {
        Expression::Number(value) => Expression::Number(-value),
        other => Expression::Negate(Box::new(other.clone())),
    };
    Value::Scalar(Scalar { expression, ..scalar.clone() })
}

/// The first side and the last that is exact. An equation without variables, such as `16 - 7 = 9`, and one
/// whose left side only names something that is no variable has the value of its right side.
fn equation(mut sides: Vec<Value>, relations: &[Kind]) -> Result<Value> {
    // `x = 1/3 \approx 0.33` states 1/3; `x \approx 0.33` states 0.33.
    let exact =
        relations.iter().rposition(|relation| *relation == Kind::Equal).map_or(0, |at| at + 1);
    let mut kept = if exact == 0 { sides.len() - 1 } else { exact };
    if exact == 0 && sides.len() > 1 && !names(&sides[0]) {
        kept = 0;
    }
    let rounded = (kept + 1 < sides.len()).then(|| sides.pop()).flatten();
    sides.truncate(kept + 1);
    let last = sides.pop().ok_or(UNUSABLE)?;
    let last = match (last, rounded) {
        (Value::Scalar(exact), Some(Value::Scalar(rounded))) if near(&exact, &rounded) => {
            Value::Scalar(Scalar { rounded: Some(Box::new(rounded.expression)), ..exact })
        }
        (last, _) => last,
    };
    if sides.is_empty() {
        return Ok(last);
    }
    let first = sides.swap_remove(0);
    // `5 = x` is `x = 5`.
    if let (Value::Scalar(value), Value::Scalar(name)) = (&first, &last)
        && name.expression.is_name()
        && !value.expression.has_symbols()
    {
        return Ok(Value::Equation { left: name.expression.clone(), right: value.clone() });
    }
    match (first, last) {
        (Value::Scalar(first), last) if first.expression.is_name() => match last {
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
        (first, last) if names(&first) => Ok(last),
        _ => Err(UNUSABLE),
    }
}

/// Whether a side only names what the other side is: `x`, `(x, y)`, `AB : CD`.
fn names(side: &Value) -> bool {
    let scalar =
        |item: &Value| matches!(item, Value::Scalar(scalar) if scalar.expression.is_name());
    match side {
        Value::Scalar(_) => scalar(side),
        Value::Sequence { items, .. } | Value::Set(items) => items.iter().all(scalar),
        Value::Ratio(parts) => parts.iter().all(Expression::is_name),
        _ => false,
    }
}

/// Whether the rounded side of `1/3 \approx 0.33` is that of the exact one: no further from it than half a unit of its
/// last decimal. A number with as many decimals, such as the 500 of `500 \approx 501`, needs no rounding: that names
/// two answers.
fn near(exact: &Scalar, rounded: &Scalar) -> bool {
    let number = |scalar: &Scalar| scalar.expression.exact(&mut Work::new())?.as_number();
    let places = |scalar: &Scalar| number(scalar).and_then(places);
    match (places(exact), places(rounded)) {
        (Some(exact), Some(rounded)) if exact <= rounded => return false,
        (Some(0), None) => return false,
        _ => {}
    }
    // `0.33 \approx 1/3` is rounded as well, on its first side.
    let Some(unit) = last_place(&rounded.expression).or_else(|| last_place(&exact.expression))
    else {
        return false;
    };
    let at = |scalar: &Scalar| scalar.expression.evaluate(&|_| f64::NAN);
    let (exact, rounded) = (at(exact), at(rounded));
    (exact - rounded).abs() <= 0.5 * unit + 1e-9 * exact.abs()
}

/// One unit of the last decimal of a number or of `3.33 \times 10^6`.
fn last_place(expression: &Expression) -> Option<f64> {
    match expression {
        Expression::Number(value) | Expression::Decimal(value) => {
            Some(10_f64.powi(-i32::try_from(places(value.clone())?).ok()?))
        }
        Expression::Negate(inner) => last_place(inner),
        Expression::Product(digits, power) => match &**power {
            Expression::Power(base, _) if **base == Expression::integer(10) => {
                Some(last_place(digits)? * power.evaluate(&|_| f64::NAN))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The decimals of a number; `None` where they never end.
fn places(number: BigRational) -> Option<u64> {
    let twos = number.denom().trailing_zeros().unwrap_or(0);
    let (mut rest, mut fives) = (number.denom() >> twos, 0);
    while !rest.is_one() {
        let (quotient, remainder) = rest.div_rem(&BigInt::from(5));
        rest = remainder.is_zero().then_some(quotient)?;
        fives += 1;
    }
    Some(twos.max(fives))
}

/// Whether one inequality is the other multiplied by a positive number.
pub(crate) fn same_inequality(
    left: (&Expression, &Expression),
    right: (&Expression, &Expression),
) -> bool {
    let mut work = Work::new();
    let mut ratio = || {
        let here = left.0.exact(&mut work)?.subtract(left.1.exact(&mut work)?, &mut work)?;
        let there = right.0.exact(&mut work)?.subtract(right.1.exact(&mut work)?, &mut work)?;
        let whole = here.denominator == there.denominator;
        whole.then(|| here.numerator.ratio(&there.numerator)).flatten()
    };
    ratio().is_some_and(|ratio: BigRational| ratio.is_positive())
}
