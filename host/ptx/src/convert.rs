//! `cvt`: between integers and floats, each result rounded once.

use crate::float::{Rounding, parts};
use crate::operand::{Type, mask, sign_extend};
use crate::real::{format, saturate};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    pub from: Type,
    pub to: Type,
    pub rounding: Rounding,
    /// `rni` and its kin: to an integral value.
    pub integral: bool,
    pub saturate: bool,
    pub flush: bool,
    /// `.relu`: what is negative becomes +0.
    pub rectify: bool,
}

/// Sign-extended beyond the bits of a signed target: the caller cuts to its register.
pub fn convert(conversion: Conversion, bits: u64) -> u64 {
    let Conversion { from, to, .. } = conversion;
    let bits = bits & mask(from.width());
    match (from.is_real(), to.is_real()) {
        (false, false) => integer_to_integer(conversion, bits),
        (false, true) => integer_to_real(conversion, bits),
        (true, false) => real_to_integer(conversion, bits),
        (true, true) => real_to_real(conversion, bits),
    }
}

/// Two floats into a packed pair, the first one high.
pub fn convert_pair(conversion: Conversion, high: u64, low: u64) -> u64 {
    let to = conversion.to.single();
    let half = Conversion { to, ..conversion };
    (convert(half, high) << to.bits) | convert(half, low)
}

fn cut(to: Type, value: u64) -> u64 {
    if to.is_signed() { sign_extend(value, to.bits) as u64 } else { value & mask(to.bits) }
}

fn range(to: Type) -> (i128, i128) {
    if to.is_signed() {
        (-(1 << (to.bits - 1)), (1 << (to.bits - 1)) - 1)
    } else {
        (0, i128::from(mask(to.bits)))
    }
}

fn integer_value(kind: Type, bits: u64) -> i128 {
    if kind.is_signed() { i128::from(sign_extend(bits, kind.bits)) } else { i128::from(bits) }
}

fn integer_to_integer(conversion: Conversion, bits: u64) -> u64 {
    let value = integer_value(conversion.from, bits);
    let (low, high) = range(conversion.to);
    let value = if conversion.saturate { value.clamp(low, high) } else { value };
    cut(conversion.to, value as u64)
}

fn integer_to_real(conversion: Conversion, bits: u64) -> u64 {
    let value = integer_value(conversion.from, bits);
    let format = format(conversion.to);
    let packed = format.pack(value < 0, value.unsigned_abs() as u64, 0, conversion.rounding);
    if conversion.saturate { saturate(format, packed) } else { packed }
}

/// To a whole number; the sign stays on a zero.
fn whole(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// Too large or small is clamped; what is not a number becomes 0, or the top bit alone where either side
/// has 64 bits.
fn real_to_integer(conversion: Conversion, bits: u64) -> u64 {
    let Conversion { from, to, .. } = conversion;
    let source = format(from);
    let value = source.value(if conversion.flush { source.flush(bits) } else { bits });
    if value.is_nan() {
        return if from.bits == 64 || to.bits == 64 { cut(to, 1 << (to.bits - 1)) } else { 0 };
    }
    let (low, high) = range(conversion.to);
    // The cast saturates, and 128 bits hold every range.
    let value = (whole(value, conversion.rounding) as i128).clamp(low, high);
    cut(conversion.to, value as u64)
}

fn real_to_real(conversion: Conversion, bits: u64) -> u64 {
    let Conversion { from, to, rounding, .. } = conversion;
    let (source, target) = (format(from), format(to));
    let bits = if conversion.flush && from.bits == 32 { source.flush(bits) } else { bits };
    let value = source.value(bits);
    let packed = if value.is_nan() {
        target.nan()
    } else if conversion.integral {
        target.round(whole(value, rounding), rounding)
    } else if value.is_infinite() {
        target.round(value, rounding)
    } else {
        let (negative, significand, exponent) = parts(value);
        target.pack(negative, significand, exponent, rounding)
    };
    let packed = if conversion.flush && to.bits == 32 { target.flush(packed) } else { packed };
    if conversion.rectify && target.value(packed) <= 0.0 {
        return 0;
    }
    if conversion.saturate { saturate(target, packed) } else { packed }
}
