//! Residues such as `x \equiv 5 \pmod{7}`: the modulus after a value is its unit.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::Ratio;
use num_traits::{One, Zero};

use crate::expression::Expression;
use crate::units::Unit;
use crate::unreadable::{Result, Unreadable};
use crate::value::{Scalar, Value};

/// The digits of a modulus at most.
const DIGITS_MAX: usize = 18;

/// The value before `\pmod{7}`, `(\bmod 7)` or `(mod 7)` at the end of a text, and the modulus.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let at = text.as_bytes().windows(3).rposition(|window| window == b"mod")?;
    let (before, after) = (&text[..at], text[at + "mod".len()..].trim_end_matches([' ', '$', '.']));
    let (value, modulus) = match before.strip_suffix("\\p") {
        Some(value) => (value, after),
        None => {
            let commands = ["\\b", "\\text{", "\\mathrm{", "\\"];
            let before =
                commands.iter().find_map(|start| before.strip_suffix(start)).unwrap_or(before);
            (before.trim_end().strip_suffix('(')?, after.strip_suffix(')')?)
        }
    };
    let value = value.trim_end().strip_suffix("\\left").unwrap_or(value);
    let modulus = modulus.strip_suffix("\\right").unwrap_or(modulus);
    let modulus = modulus.trim_matches([' ', '{', '}', '\\', ',', '~']);
    let number = modulus.len() <= DIGITS_MAX && modulus.bytes().all(|byte| byte.is_ascii_digit());
    let letter = matches!(modulus.as_bytes(), [b'a'..=b'z']);
    (!modulus.is_empty() && (number || letter)).then_some((value, modulus))
}

/// A value with its modulus.
pub(crate) fn with_modulus(value: Value, modulus: &str) -> Result<Value> {
    let measured = |scalar: Scalar| match scalar {
        Scalar { unit: None, percent: false, .. } => {
            let dimension = BTreeMap::from([(format!("mod {modulus}"), 1)]);
            Ok(Scalar { unit: Some(Unit { dimension, factor: Ratio::one() }), ..scalar })
        }
        _ => Err(Unreadable("a residue with a unit")),
    };
    match value {
        Value::Scalar(scalar) => Ok(Value::Scalar(measured(scalar)?)),
        Value::Equation { left, right } => Ok(Value::Equation { left, right: measured(right)? }),
        Value::Set(items) => {
            let items = items.into_iter().map(|item| with_modulus(item, modulus));
            Ok(Value::Set(items.collect::<Result<_>>()?))
        }
        _ => Err(Unreadable("a modulus of what is no number")),
    }
}

/// Whether both are whole numbers of one residue class: `12 \pmod 7` and `5 \pmod 7`.
pub(crate) fn congruent(left: &Scalar, right: &Scalar) -> bool {
    let (Some(unit), Some(there)) = (&left.unit, &right.unit) else { return false };
    let modulus = unit.dimension.keys().next().and_then(|base| base.strip_prefix("mod "));
    let modulus = modulus.and_then(|digits| digits.parse::<BigInt>().ok());
    let Some(modulus) = modulus.filter(|modulus| unit == there && !modulus.is_zero()) else {
        return false;
    };
    match (whole(&left.expression), whole(&right.expression)) {
        (Some(left), Some(right)) => (left - right).is_multiple_of(&modulus),
        _ => false,
    }
}

fn whole(expression: &Expression) -> Option<BigInt> {
    match expression {
        Expression::Number(value) if value.is_integer() => Some(value.to_integer()),
        Expression::Negate(inner) => whole(inner).map(|value| -value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_modulus() {
        let check = |text: &str, expected| assert_eq!(split(text), expected, "{text}");
        check(r"5\pmod{7}", Some(("5", "7")));
        check(r"x \equiv 5 \pmod 7.", Some((r"x \equiv 5 ", "7")));
        check(r"5 (\bmod 12)", Some(("5 ", "12")));
        check(r"5\ (\text{mod } 12)", Some((r"5\ ", "12")));
        check("5 (mod p)", Some(("5 ", "p")));
        check("5 mod 7", None);
        check(r"5 \pmod{7} + 1", None);
        check("5", None);
    }
}
