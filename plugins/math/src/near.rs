//! Whether two expressions are equal: exactly where both have an exact form, otherwise as floating-point numbers.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::equal::Equal;
use crate::expression::Expression;
use crate::polynomial::{Exact, Symbol, Work};
use crate::settings::Settings;

pub(crate) fn expressions(
    left: &Expression,
    right: &Expression,
    settings: &Settings,
) -> Option<Equal> {
    if left == right {
        return Some(Equal::Written);
    }
    // Most wrong answers are another number.
    if let (Expression::Number(_), Expression::Number(_)) = (left, right) {
        return None;
    }
    let rounded = left.is_rounded() || right.is_rounded();
    let (written_left, written_right) = (left, right);
    let mut work = Work::new();
    if let (Some(left), Some(right)) = (left.exact(&mut work), right.exact(&mut work)) {
        if let (Some(left), Some(right)) = (left.as_number(), right.as_number()) {
            let both = [written_left, written_right].into_iter().all(Expression::is_rounded);
            return match (rounded, both) {
                (true, false) if !may_be_rounded(&left, &right, written_left, settings) => {
                    (left == right).then_some(Equal::Exactly)
                }
                _ => numbers(&left, &right, rounded, settings),
            };
        }
        match left.equals(&right, &mut work) {
            Some(true) => return Some(Equal::Exactly),
            // Without opaque values the exact forms are unique.
            Some(false) if !rounded && !work.has_opaque() => return None,
            Some(false) if !rounded && differ_by_number(left, right, &mut work) => return None,
            _ => {}
        }
    }
    at_points(left, right, rounded, settings)
}

/// Whether the side with a decimal mark may be a rounding of the other. `151.5001` is none of `303/2`, which it
/// could have stated; a tolerance above the default allows it all the same.
fn may_be_rounded(
    left: &BigRational,
    right: &BigRational,
    written_left: &Expression,
    settings: &Settings,
) -> bool {
    let (rounded, exact) = if written_left.is_rounded() { (left, right) } else { (right, left) };
    settings.tolerance > Settings::default().tolerance
        || settings.decimals.is_some()
        || !(rounded.denom() % exact.denom()).is_zero()
}

/// Whether the difference of two values is a number other than zero, whatever their opaque values are.
fn differ_by_number(left: Exact, right: Exact, work: &mut Work) -> bool {
    let difference = left.subtract(right, work).and_then(|difference| difference.as_number());
    difference.is_some_and(|number| !number.is_zero())
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
    let whole = left.is_integer() && right.is_integer();
    if whole && settings.tolerance <= Settings::default().tolerance {
        return None;
    }
    if !rounded || left.is_zero() || right.is_zero() || left.is_negative() != right.is_negative() {
        return None;
    }
    let quotient = (left / right).to_f64()?;
    let near = settings.tolerance > 0.0
        && (quotient - 1.0).abs() <= settings.tolerance * quotient.max(1.0);
    (near || settings.decimals.is_some_and(|decimals| agree(left, right, decimals)))
        .then_some(Equal::Numerically)
}

/// Whether two numbers are equal after rounding to so many decimals.
fn agree(left: &BigRational, right: &BigRational, decimals: u32) -> bool {
    let scale = BigRational::from_integer(num_traits::pow(BigInt::from(10), decimals as usize));
    (left * &scale).round() == (right * &scale).round()
}

/// Noise of the floating-point functions round zero, such as the sine of pi.
const NOISE: f64 = 1e-12;

/// Within the tolerance, relative; noise is zero, but not another small number, such as Planck's constant.
fn is_near(left: f64, right: f64, tolerance: f64) -> bool {
    let distance = (left - right).abs();
    let noise = left == 0.0 || right == 0.0;
    tolerance > 0.0
        && distance.is_finite()
        && (distance <= tolerance * left.abs().max(right.abs()) || (noise && distance <= NOISE))
}

/// Whether a value is zero, or cannot be told from it.
pub(crate) fn may_be_zero(expression: &Expression) -> bool {
    let mut work = Work::new();
    match expression.exact(&mut work) {
        Some(exact) if exact.numerator.is_zero() => true,
        Some(_) if !work.has_opaque() => false,
        _ => values(expression).any(|value| value.abs() <= NOISE),
    }
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

/// Compares in floating-point numbers: within the tolerance where a side was rounded, otherwise to the
/// precision of the computation.
fn at_points(
    left: &Expression,
    right: &Expression,
    rounded: bool,
    settings: &Settings,
) -> Option<Equal> {
    const PRECISION: f64 = 1e-11;
    let tolerance = if rounded { settings.tolerance } else { PRECISION.min(settings.tolerance) };
    let near = |left: f64, right: f64| is_near(left, right, tolerance);
    let equal = if rounded { Equal::Numerically } else { Equal::Computed };
    if !left.has_symbols() && !right.has_symbols() {
        let at = |_: Symbol| f64::NAN;
        return near(left.evaluate(&at), right.evaluate(&at)).then_some(equal);
    }
    let mut compared = 0;
    for (left, right) in values(left).zip(values(right)) {
        match (left.is_finite(), right.is_finite()) {
            (true, true) if near(left, right) => compared += 1,
            (false, false) => {}
            _ => return None,
        }
    }
    (compared >= POINTS_MIN).then_some(equal)
}

/// The values at the points. Every variable gets another point, so that `x - y` is not taken for 0.
fn values(expression: &Expression) -> impl Iterator<Item = f64> {
    POINTS.into_iter().map(|point| {
        let at = |symbol: Symbol| {
            let index = symbol
                .index
                .iter()
                .fold(0_usize, |sum, byte| sum.wrapping_mul(17).wrapping_add(usize::from(*byte)));
            let name = (symbol.letter as usize).wrapping_mul(31).wrapping_add(index);
            let shift = (name % 97) as f64 / 256.0;
            point + shift * point.signum()
        };
        expression.evaluate(&at)
    })
}
