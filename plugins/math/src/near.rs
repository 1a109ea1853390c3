//! Whether two expressions are equal: exactly where both have an exact form, otherwise as floating-point numbers.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::equal::Equal;
use crate::expression::Expression;
use crate::function::Function;
use crate::polynomial::{Exact, Symbol, Work};
use crate::settings::Settings;

use Point::{Near, Spaced};

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
    if rounded && settings.decimals.is_some_and(|decimals| agree(left, right, decimals)) {
        return Some(Equal::Numerically);
    }
    if !rounded || left.is_zero() || right.is_zero() || left.is_negative() != right.is_negative() {
        return None;
    }
    let quotient = (left / right).to_f64()?;
    let near = settings.tolerance > 0.0
        && (quotient - 1.0).abs() <= settings.tolerance * quotient.max(1.0);
    near.then_some(Equal::Numerically)
}

/// Whether two numbers are equal after rounding to so many decimals.
fn agree(left: &BigRational, right: &BigRational, decimals: u32) -> bool {
    let scale = BigRational::from_integer(num_traits::pow(BigInt::from(10), decimals as usize));
    (left * &scale).round() == (right * &scale).round()
}

/// Noise of the floating-point functions round zero, such as the sine of pi.
const NOISE: f64 = 1e-12;

/// How near two values must be.
#[derive(Clone, Copy)]
struct Nearness {
    /// Relative to the greater one.
    tolerance: f64,
    /// Whether a zero may come out as noise. It is zero then, but not another small number, such as Planck's
    /// constant.
    noisy: bool,
}

impl Nearness {
    fn holds(self, left: f64, right: f64) -> bool {
        let distance = (left - right).abs();
        let noise = self.noisy && (left == 0.0 || right == 0.0);
        self.tolerance > 0.0
            && distance.is_finite()
            && (distance <= self.tolerance * left.abs().max(right.abs())
                || (noise && distance <= NOISE))
    }
}

/// Whether a value is zero, or cannot be told from it.
pub(crate) fn may_be_zero(expression: &Expression) -> bool {
    let mut work = Work::new();
    match expression.exact(&mut work) {
        Some(exact) if exact.numerator.is_zero() => true,
        Some(_) if !work.has_opaque() => false,
        _ => {
            let noise = if expression.may_cancel() { NOISE } else { 0.0 };
            POINTS.iter().any(|point| point.value(expression).abs() <= noise)
        }
    }
}

/// Where variables have values.
#[derive(Clone, Copy)]
enum Point {
    /// Every variable is moved from this by its name, so that `x - y` is not taken for 0.
    Near(f64),
    /// The variables in order are the first number and those that follow it by the second.
    Spaced(f64, f64),
}

/// Points on both sides of zero and of one, none of them special.
const POINTS: [Point; 8] = [
    Near(0.370_312_5),
    Near(1.691_406_25),
    Near(0.832_031_25),
    Near(2.914_062_5),
    Near(4.207_031_25),
    Near(-0.582_031_25),
    Near(-1.441_406_25),
    Near(-3.160_156_25),
];
/// Points for functions that have no value there: of whole numbers, the variables in rising and in falling order;
/// of great numbers only; with powers that only numbers near one can be raised to.
const FURTHER: [[Point; 5]; 4] = [
    [Spaced(3.0, 2.0), Spaced(4.0, 3.0), Spaced(2.0, 5.0), Spaced(5.0, 1.0), Spaced(6.0, 4.0)],
    [
        Spaced(13.0, -2.0),
        Spaced(14.0, -3.0),
        Spaced(17.0, -4.0),
        Spaced(10.0, -1.0),
        Spaced(15.0, -3.0),
    ],
    [
        Spaced(11.5, 7.0),
        Spaced(18.25, 9.0),
        Spaced(29.5, 13.0),
        Spaced(40.75, 5.0),
        Spaced(61.25, 3.0),
    ],
    [
        Spaced(1.001, 3e-4),
        Spaced(0.998, -2e-4),
        Spaced(1.0005, 1e-4),
        Spaced(0.9991, 3e-4),
        Spaced(1.003, -5e-4),
    ],
];
/// Points at which both sides must have a value.
const POINTS_MIN: usize = 3;

impl Point {
    /// The value of an expression of variables with names of their own.
    fn value(self, expression: &Expression) -> f64 {
        self.value_among(expression, &[])
    }

    /// The value where these are all variables, in order.
    fn value_among(self, expression: &Expression, symbols: &[Symbol]) -> f64 {
        let at = |symbol: Symbol| match self {
            Near(point) => {
                let index = symbol.index.iter().fold(0_usize, |sum, byte| {
                    sum.wrapping_mul(17).wrapping_add(usize::from(*byte))
                });
                let name = (symbol.letter as usize).wrapping_mul(31).wrapping_add(index);
                let shift = (name % 97) as f64 / 256.0;
                point + shift * point.signum()
            }
            Spaced(first, step) => {
                let place = symbols.iter().position(|other| *other == symbol);
                place.map_or(f64::NAN, |place| first + step * place as f64)
            }
        };
        expression.evaluate(&at)
    }

    fn is_negative(self) -> bool {
        matches!(self, Near(point) if point < 0.0)
    }
}

/// The variables of both sides, those that count a whole, such as the n of `\binom{n}{k}`, last.
fn symbols(left: &Expression, right: &Expression) -> Vec<Symbol> {
    let mut symbols = BTreeSet::new();
    left.collect_symbols(&mut symbols);
    right.collect_symbols(&mut symbols);
    let (counts, mut ordered): (Vec<_>, Vec<_>) =
        symbols.into_iter().partition(|symbol| matches!(symbol.letter, 'n' | 'm' | 'N' | 'M'));
    ordered.extend(counts);
    ordered
}

/// Compares in floating-point numbers: within the tolerance where a side was rounded, otherwise to the
/// precision of the computation.
fn at_points(
    left: &Expression,
    right: &Expression,
    rounded: bool,
    settings: &Settings,
) -> Option<Equal> {
    const PRECISION: f64 = 1e-11;
    let variables = left.has_symbols() || right.has_symbols();
    let lenient = settings.tolerance > Settings::default().tolerance;
    // A whole number could have been stated.
    let stated = !variables && !lenient && [left, right].into_iter().any(is_whole);
    let tolerance = match rounded && !stated {
        true => settings.tolerance,
        false => PRECISION.min(settings.tolerance),
    };
    let near = Nearness { tolerance, noisy: left.may_cancel() || right.may_cancel() };
    let equal = if rounded { Equal::Numerically } else { Equal::Computed };
    if !variables {
        let at = |_: Symbol| f64::NAN;
        let (left, right) = (left.evaluate(&at), right.evaluate(&at));
        let agree = |decimals: u32| {
            let scale = 10_f64.powi(decimals as i32);
            (left * scale).round() == (right * scale).round()
        };
        let equal_rounded = rounded && settings.decimals.is_some_and(agree);
        return (near.holds(left, right) || equal_rounded).then_some(equal);
    }
    let symbols = symbols(left, right);
    // Powers, roots and logarithms of variables mean those of positive ones, unless a side says more.
    let signed =
        |side: &Expression| side.any(&|inner| matches!(inner, Expression::Call(Function::Abs, _)));
    let positive = !signed(left) && !signed(right);
    let sets = [POINTS.as_slice()].into_iter().chain(FURTHER.iter().map(<[Point; 5]>::as_slice));
    for points in sets {
        let mut compared = 0;
        for point in points {
            let (left, right) =
                (point.value_among(left, &symbols), point.value_among(right, &symbols));
            match (left.is_finite(), right.is_finite()) {
                (true, true) if near.holds(left, right) => compared += 1,
                (false, false) => {}
                (true, true) => return None,
                _ if positive && point.is_negative() => {}
                _ => return None,
            }
        }
        if compared >= POINTS_MIN {
            return Some(equal);
        }
    }
    None
}

/// Whether a side is exactly a whole number.
fn is_whole(side: &Expression) -> bool {
    let number = || side.exact(&mut Work::new())?.as_number();
    !side.is_rounded() && number().is_some_and(|number| number.is_integer())
}
