//! Floating-point instructions on one lane.
//!
//! `add`, `sub`, `mul`, `fma`, `div`, `rcp` and `sqrt` with a rounding are exact as IEEE 754 has them.
//! The `approx` and `full` forms are computed in `f64` and rounded to nearest, which is closer to the
//! true value than what PTX promises of a device (at worst 2^-20 relative or absolute, `tanh` 2^-11):
//! results there need not agree with a device bit for bit.

use crate::float::{FloatFormat, Rounding, add_to_odd, divide_to_odd, root_to_odd};
use crate::operand::{Class, CompareOperator, CompareTest, RealModifiers, Type};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RealFunction {
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    Divide,
    Reciprocal,
    Root,
    ReciprocalRoot,
    Exponential,
    Logarithm,
    Sine,
    Cosine,
    HyperbolicTangent,
    Negate,
    Absolute,
    Minimum,
    Maximum,
    CopySign,
}

pub fn format(kind: Type) -> FloatFormat {
    match (kind.class, kind.bits) {
        (Class::Brain, _) => FloatFormat::BRAIN,
        (_, 16) => FloatFormat::HALF,
        (_, 32) => FloatFormat::SINGLE,
        _ => FloatFormat::DOUBLE,
    }
}

pub fn evaluate(
    function: RealFunction,
    modifiers: RealModifiers,
    kind: Type,
    sources: [u64; 3],
) -> u64 {
    if !kind.pair {
        return one(function, modifiers, kind, sources);
    }
    let low = one(function, modifiers, kind.single(), sources.map(|source| source & 0xffff));
    let high = one(function, modifiers, kind.single(), sources.map(|source| source >> 16));
    low | (high << 16)
}

fn one(function: RealFunction, modifiers: RealModifiers, kind: Type, sources: [u64; 3]) -> u64 {
    let format = format(kind);
    let sources =
        if modifiers.flush { sources.map(|source| format.flush(source)) } else { sources };
    let mut bits = match function {
        RealFunction::Negate | RealFunction::Absolute | RealFunction::CopySign => {
            signs(function, format, sources)
        }
        RealFunction::Minimum | RealFunction::Maximum => {
            extreme(function, modifiers, format, sources)
        }
        _ if modifiers.rounding == Rounding::Nearest && kind.bits >= 32 => {
            native(function, kind, sources)
        }
        _ => by_odd(function, modifiers.rounding, format, sources),
    };
    if format.value(bits).is_nan() && function != RealFunction::CopySign {
        bits = format.nan();
    }
    if modifiers.flush {
        bits = format.flush(bits);
    }
    if modifiers.saturate { saturate(format, bits) } else { bits }
}

/// Into [0, 1]; what is not a number becomes +0.
pub fn saturate(format: FloatFormat, bits: u64) -> u64 {
    let value = format.value(bits);
    if value > 1.0 {
        format.round(1.0, Rounding::Nearest)
    } else if value > 0.0 {
        bits
    } else {
        0
    }
}

fn signs(function: RealFunction, format: FloatFormat, [a, b, _]: [u64; 3]) -> u64 {
    let sign = 1 << (format.exponent_bits + format.fraction_bits);
    match function {
        RealFunction::Negate => a ^ sign,
        RealFunction::Absolute => a & !sign,
        _ => (a & sign) | (b & !sign),
    }
}

fn extreme(
    function: RealFunction,
    modifiers: RealModifiers,
    format: FloatFormat,
    [a, b, _]: [u64; 3],
) -> u64 {
    let (x, y) = (format.value(a), format.value(b));
    if x.is_nan() || y.is_nan() {
        return match (modifiers.propagate_nan, x.is_nan()) {
            (true, _) => format.nan(),
            (false, true) => b,
            (false, false) => a,
        };
    }
    // The total order puts -0 below +0, as PTX does.
    let a_is_less = x.total_cmp(&y).is_lt();
    if a_is_less == (function == RealFunction::Minimum) { a } else { b }
}

/// Rounding to nearest of `f32` and `f64` is what the processor does; the rest goes by `f64`.
fn native(function: RealFunction, kind: Type, bits: [u64; 3]) -> u64 {
    use RealFunction as F;
    let format = format(kind);
    if kind.bits == 64 {
        let [a, b, c] = bits.map(f64::from_bits);
        return match function {
            F::Add => a + b,
            F::Subtract => a - b,
            F::Multiply => a * b,
            F::MultiplyAdd => a.mul_add(b, c),
            F::Divide => a / b,
            F::Reciprocal => 1.0 / a,
            F::Root => a.sqrt(),
            _ => transcendental(function, a),
        }
        .to_bits();
    }
    let [a, b, c] = bits.map(|bits| f32::from_bits(bits as u32));
    let result = match function {
        F::Add => a + b,
        F::Subtract => a - b,
        F::Multiply => a * b,
        F::MultiplyAdd => a.mul_add(b, c),
        F::Divide => a / b,
        F::Reciprocal => 1.0 / a,
        F::Root => a.sqrt(),
        _ => return format.round(transcendental(function, f64::from(a)), Rounding::Nearest),
    };
    u64::from(result.to_bits())
}

fn transcendental(function: RealFunction, a: f64) -> f64 {
    match function {
        RealFunction::ReciprocalRoot => 1.0 / a.sqrt(),
        RealFunction::Exponential => a.exp2(),
        RealFunction::Logarithm => a.log2(),
        RealFunction::Sine => a.sin(),
        RealFunction::Cosine => a.cos(),
        RealFunction::HyperbolicTangent => a.tanh(),
        _ => unreachable!("the arithmetic is done by the callers"),
    }
}

fn by_odd(function: RealFunction, rounding: Rounding, format: FloatFormat, bits: [u64; 3]) -> u64 {
    use RealFunction as F;
    let [a, b, c] = bits.map(|bits| format.value(bits));
    let (left, right) = match function {
        F::Add => (a, b),
        F::Subtract => (a, -b),
        // The product of two narrow values is exact.
        F::MultiplyAdd => (a * b, c),
        _ => {
            let value = match function {
                F::Multiply => a * b,
                F::Divide => divide_to_odd(a, b),
                F::Reciprocal => divide_to_odd(1.0, a),
                F::Root => root_to_odd(a),
                _ => transcendental(function, a),
            };
            return format.round(value, rounding);
        }
    };
    let sum = add_to_odd(left, right);
    // An exact zero of unlike signs is -0 when rounding down, and +0 otherwise.
    let cancelled = sum == 0.0 && left.is_sign_negative() != right.is_sign_negative();
    let sum = if cancelled && rounding == Rounding::Down { -0.0 } else { sum };
    format.round(sum, rounding)
}

/// A comparison of integers or floats.
pub fn holds(test: CompareTest, a: u64, b: u64) -> bool {
    let order = if test.kind.is_real() {
        let format = format(test.kind);
        let read = |bits| format.value(if test.flush { format.flush(bits) } else { bits });
        read(a).partial_cmp(&read(b))
    } else if crate::integer::less(test.kind, a, b) {
        Some(std::cmp::Ordering::Less)
    } else {
        Some(if a == b { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Greater })
    };
    let Some(order) = order else {
        return test.unordered;
    };
    match test.comparison {
        CompareOperator::Equal => order.is_eq(),
        CompareOperator::NotEqual => order.is_ne(),
        CompareOperator::Less => order.is_lt(),
        CompareOperator::LessEqual => order.is_le(),
        CompareOperator::Greater => order.is_gt(),
        CompareOperator::GreaterEqual => order.is_ge(),
        CompareOperator::Number => true,
        CompareOperator::NotNumber => false,
    }
}
