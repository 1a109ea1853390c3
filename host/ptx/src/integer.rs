//! Integer and bit instructions on one lane.
//!
//! Where PTX leaves a result open it is fixed: a quotient by zero has all bits set, and the remainder is
//! the dividend.

use crate::operand::{Type, mask, sign_extend};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerFunction {
    Add,
    Subtract,
    MultiplyLow,
    MultiplyHigh,
    MultiplyWide,
    MultiplyAddLow,
    MultiplyAddHigh,
    MultiplyAddWide,
    Divide,
    Remainder,
    Negate,
    Absolute,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    Not,
    LogicalNot,
    ShiftLeft,
    ShiftRight,
    ExtractBits,
    InsertBits,
    Permute,
    CountOnes,
    CountLeadingZeros,
    /// The highest bit that differs from the sign; all bits set if there is none.
    FindHighest,
    /// How far that bit is from the top.
    FindShift,
    Reverse,
    Lookup,
    FunnelLeftWrap,
    FunnelLeftClamp,
    FunnelRightWrap,
    FunnelRightClamp,
}

/// The sources must not exceed the bits of `kind`; the result may, and is cut by the caller.
pub fn evaluate(function: IntegerFunction, kind: Type, [a, b, c, d]: [u64; 4]) -> u64 {
    use IntegerFunction as F;
    let bits = kind.bits;
    match function {
        F::Add => a.wrapping_add(b),
        F::Subtract => a.wrapping_sub(b),
        F::MultiplyLow | F::MultiplyWide | F::MultiplyHigh => product(function, kind, a, b),
        F::MultiplyAddLow => product(F::MultiplyLow, kind, a, b).wrapping_add(c),
        F::MultiplyAddHigh => product(F::MultiplyHigh, kind, a, b).wrapping_add(c),
        F::MultiplyAddWide => product(F::MultiplyWide, kind, a, b).wrapping_add(c),
        F::Divide => divide(kind, a, b).0,
        F::Remainder => divide(kind, a, b).1,
        F::Negate => a.wrapping_neg(),
        F::Absolute => sign_extend(a, bits).wrapping_abs() as u64,
        F::Minimum => {
            if less(kind, b, a) {
                b
            } else {
                a
            }
        }
        F::Maximum => {
            if less(kind, a, b) {
                b
            } else {
                a
            }
        }
        F::And => a & b,
        F::Or => a | b,
        F::Xor => a ^ b,
        F::Not => !a,
        F::LogicalNot => u64::from(a == 0),
        F::ShiftLeft => {
            if b >= u64::from(bits) {
                0
            } else {
                a << b
            }
        }
        F::ShiftRight if kind.is_signed() => (sign_extend(a, bits) >> b.min(63)) as u64,
        F::ShiftRight => {
            if b >= u64::from(bits) {
                0
            } else {
                a >> b
            }
        }
        F::ExtractBits => extract(kind, a, b, c),
        F::InsertBits => insert(bits, [a, b, c, d]),
        F::Permute => permute(a, b, c),
        F::CountOnes => u64::from(a.count_ones()),
        F::CountLeadingZeros => u64::from(a.leading_zeros()) - u64::from(64 - bits),
        F::FindHighest | F::FindShift => find(function, kind, a),
        F::Reverse => a.reverse_bits() >> (64 - bits),
        F::Lookup => lookup([a, b, c], d),
        F::FunnelLeftWrap => funnel_left(a, b, c & 31),
        F::FunnelLeftClamp => funnel_left(a, b, c.min(32)),
        F::FunnelRightWrap => ((b << 32) | a) >> (c & 31),
        F::FunnelRightClamp => ((b << 32) | a) >> c.min(32),
    }
}

/// Whether `a < b` as values of `kind`.
pub fn less(kind: Type, a: u64, b: u64) -> bool {
    if kind.is_signed() { sign_extend(a, kind.bits) < sign_extend(b, kind.bits) } else { a < b }
}

fn product(function: IntegerFunction, kind: Type, a: u64, b: u64) -> u64 {
    let whole = if kind.is_signed() {
        (i128::from(sign_extend(a, kind.bits)) * i128::from(sign_extend(b, kind.bits))) as u128
    } else {
        u128::from(a) * u128::from(b)
    };
    match function {
        IntegerFunction::MultiplyHigh => (whole >> kind.bits) as u64,
        _ => whole as u64,
    }
}

fn divide(kind: Type, a: u64, b: u64) -> (u64, u64) {
    if b == 0 {
        (u64::MAX, a)
    } else if kind.is_signed() {
        let (a, b) = (sign_extend(a, kind.bits), sign_extend(b, kind.bits));
        (a.wrapping_div(b) as u64, a.wrapping_rem(b) as u64)
    } else {
        (a / b, a % b)
    }
}

/// Beyond the highest bit a signed field is filled with its sign.
fn extract(kind: Type, a: u64, position: u64, length: u64) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let top = u64::from(kind.bits) - 1;
    let field = if position > top { 0 } else { (a >> position) & mask(length as u32) };
    if !kind.is_signed() || length == 0 {
        return field;
    }
    let sign = (a >> (position + length - 1).min(top)) & 1;
    let filled = length.min((top + 1).saturating_sub(position)) as u32;
    if sign == 1 { field | !mask(filled) } else { field }
}

fn insert(bits: u32, [field, base, position, length]: [u64; 4]) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position >= u64::from(bits) {
        return base;
    }
    let hole = mask(length as u32) << position;
    (base & !hole) | ((field << position) & hole)
}

fn find(function: IntegerFunction, kind: Type, a: u64) -> u64 {
    let negative = kind.is_signed() && (a >> (kind.bits - 1)) & 1 == 1;
    let differing = (if negative { !a } else { a }) & mask(kind.bits);
    match differing.checked_ilog2() {
        None => u64::MAX,
        Some(highest) if function == IntegerFunction::FindShift => {
            u64::from(kind.bits - 1 - highest)
        }
        Some(highest) => u64::from(highest),
    }
}

fn permute(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = ((b << 32) | a).to_le_bytes();
    let pick = |at: u64| {
        let choice = selector >> (4 * at);
        let byte = bytes[(choice & 7) as usize];
        let byte = if choice & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 };
        u64::from(byte) << (8 * at)
    };
    pick(0) | pick(1) | pick(2) | pick(3)
}

/// Bit i of the table is the result for the three bits of i, `a` the highest.
fn lookup([a, b, c]: [u64; 3], table: u64) -> u64 {
    let pick = |bit: u64, value: u64| if bit == 1 { value } else { !value };
    let rows = (0..8).filter(|row| (table >> row) & 1 == 1);
    rows.fold(0, |all, row| all | (pick(row >> 2, a) & pick((row >> 1) & 1, b) & pick(row & 1, c)))
}

fn funnel_left(low: u64, high: u64, shift: u64) -> u64 {
    (((high << 32) | low) << shift) >> 32
}
