//! Whether two values are the same answer: exactly first, then numerically. Symmetric in its two
//! sides.
//!
//! The rules, with what `strict` takes away in brackets:
//! - Whole numbers, fractions, roots, multiples of pi and polynomials are compared exactly. The
//!   tolerance applies where a side is written as a decimal or has no exact form; with variables
//!   both are then evaluated at fixed points.
//! - A unit missing on one side is ignored [never]; two units must measure the same and convert.
//! - A percentage is its hundredth; where only one side has the sign, `50` is `50%` too [never].
//! - `x = 5` is `5`, `\{5\}` is `5` [never]; two equations are equal up to rearrangement and a
//!   rational factor.
//! - Sets, unbracketed lists and unions have no order; points, intervals and matrices do.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::expression::Expression;
use crate::limits;
use crate::polynomial::{Symbol, Work};
use crate::settings::Settings;
use crate::units::Unit;
use crate::value::{Scalar, Value};

/// How two values turned out equal, the weaker the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Equal {
    Exactly,
    Numerically,
    AsText,
}

pub(crate) fn compare(left: &Value, right: &Value, settings: &Settings) -> Option<Equal> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => (left == right).then_some(Equal::AsText),
        (Value::Choice(left), Value::Choice(right)) => (left == right).then_some(Equal::AsText),
        (Value::Scalar(left), Value::Scalar(right)) => scalars(left, right, settings),
        (
            Value::Equation { left, right },
            Value::Equation { left: left_there, right: right_there },
        ) => equations((left, right), (left_there, right_there), settings),
        (Value::Set(left), Value::Set(right)) | (Value::Union(left), Value::Union(right)) => {
            unordered(left, right, settings)
        }
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
        (Value::Equation { left: name, right: value }, other)
        | (other, Value::Equation { left: name, right: value })
            if !settings.strict && name.is_symbol() && !matches!(other, Value::Set(_)) =>
        {
            compare(&Value::Scalar(value.clone()), other, settings)
        }
        (Value::Set(items), other) | (other, Value::Set(items)) if !settings.strict => {
            match items.as_slice() {
                [item] if !matches!(item, Value::Set(_)) => compare(item, other, settings),
                _ => None,
            }
        }
        _ => None,
    }
}

fn weakest(results: impl Iterator<Item = Option<Equal>>) -> Option<Equal> {
    results.into_iter().try_fold(Equal::Exactly, |weakest, result| Some(weakest.max(result?)))
}

fn ordered(left: &[Value], right: &[Value], settings: &Settings) -> Option<Equal> {
    if left.len() != right.len() {
        return None;
    }
    weakest(left.iter().zip(right).map(|(left, right)| compare(left, right, settings)))
}

fn unordered(left: &[Value], right: &[Value], settings: &Settings) -> Option<Equal> {
    if left.len() != right.len() {
        return None;
    }
    if left.len() > limits::SET_MAX {
        return ordered(left, right, settings);
    }
    let mut free: Vec<&Value> = right.iter().collect();
    weakest(left.iter().map(|item| {
        let found = free
            .iter()
            .enumerate()
            .filter_map(|(at, other)| Some((compare(item, other, settings)?, at)))
            .min();
        let (equal, at) = found?;
        free.remove(at);
        Some(equal)
    }))
}

fn scalars(left: &Scalar, right: &Scalar, settings: &Settings) -> Option<Equal> {
    if settings.strict
        && (left.percent != right.percent || left.unit.is_some() != right.unit.is_some())
    {
        return None;
    }
    let equal = match (&left.unit, &right.unit) {
        (Some(unit), Some(unit_there)) if unit != unit_there => {
            if unit.dimension != unit_there.dimension {
                return None;
            }
            let (left, right) =
                (scaled(&left.expression, unit), scaled(&right.expression, unit_there));
            expressions(&left, &right, settings)
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
}

fn product(expression: &Expression, factor: BigRational) -> Expression {
    Expression::Product(Box::new(expression.clone()), Box::new(Expression::Number(factor)))
}

fn scaled(expression: &Expression, unit: &Unit) -> Expression {
    let (numerator, denominator) = (*unit.factor.numer(), *unit.factor.denom());
    product(expression, BigRational::new(BigInt::from(numerator), BigInt::from(denominator)))
}

fn expressions(left: &Expression, right: &Expression, settings: &Settings) -> Option<Equal> {
    if left == right {
        return Some(Equal::Exactly);
    }
    let rounded = left.is_rounded() || right.is_rounded();
    let mut work = Work::new();
    let exact = match (left.exact(&mut work), right.exact(&mut work)) {
        (Some(left), Some(right)) => {
            if let (Some(left), Some(right)) = (left.as_number(), right.as_number()) {
                return numbers(&left, &right, rounded, settings);
            }
            left.equals(&right, &mut work)
        }
        _ => None,
    };
    match exact {
        Some(true) => Some(Equal::Exactly),
        Some(false) if !rounded => None,
        _ => at_points(left, right, settings).then_some(Equal::Numerically),
    }
}

fn numbers(
    left: &BigRational,
    right: &BigRational,
    rounded: bool,
    settings: &Settings,
) -> Option<Equal> {
    if left == right {
        return Some(Equal::Exactly);
    }
    if !rounded || left.is_zero() || right.is_zero() || left.is_negative() != right.is_negative() {
        return None;
    }
    let near = is_near(left.to_f64()?, right.to_f64()?, settings.tolerance);
    near.then_some(Equal::Numerically)
}

fn is_near(left: f64, right: f64, tolerance: f64) -> bool {
    // Noise of the floating-point functions round zero, such as the sine of pi.
    const NOISE: f64 = 1e-12;
    let distance = (left - right).abs();
    tolerance > 0.0
        && distance.is_finite()
        && (distance <= tolerance * left.abs().max(right.abs()) || distance <= NOISE)
}

/// Values for variables, on both sides of zero and of one, none of them special.
const POINTS: [f64; 8] = [
    0.370_312_5,
    1.691_406_25,
    0.832_031_25,
    2.914_062_5,
    4.207_031_25,
    -0.582_031_25,
    -1.441_406_25,
    -3.160_156_25,
];
/// Points at which both sides must have a value.
const POINTS_MIN: usize = 3;

fn at_points(left: &Expression, right: &Expression, settings: &Settings) -> bool {
    let near = |left: f64, right: f64| is_near(left, right, settings.tolerance);
    if !left.has_symbols() && !right.has_symbols() {
        let at = |_: Symbol| f64::NAN;
        return near(left.evaluate(&at), right.evaluate(&at));
    }
    let mut compared = 0;
    for point in POINTS {
        // Every variable gets another point, so that `x - y` is not taken for 0.
        let at = |symbol: Symbol| {
            let index = symbol.index.map_or(0, |index| index as usize + 1);
            let name =
                (symbol.letter as usize).wrapping_mul(31).wrapping_add(index.wrapping_mul(17));
            let shift = (name % 97) as f64 / 256.0;
            point + shift * point.signum()
        };
        let (left, right) = (left.evaluate(&at), right.evaluate(&at));
        match (left.is_finite(), right.is_finite()) {
            (true, true) if near(left, right) => compared += 1,
            (false, false) => {}
            _ => return false,
        }
    }
    compared >= POINTS_MIN
}

fn equations(
    left: (&Expression, &Scalar),
    right: (&Expression, &Scalar),
    settings: &Settings,
) -> Option<Equal> {
    if left.0 == right.0 {
        return scalars(left.1, right.1, settings);
    }
    let mut work = Work::new();
    let mut difference = |(side, value): (&Expression, &Scalar)| {
        let value = value.expression.exact(&mut work)?;
        side.exact(&mut work)?.subtract(value, &mut work)
    };
    let (left, right) = (difference(left)?, difference(right)?);
    left.numerator.is_proportional(&right.numerator).then_some(Equal::Exactly)
}
