//! Compares two buffers, element by element, on the host. A device that compares by a kernel of its own
//! counts the same; [`passes`] makes the verdict of the counts.
//!
//! **An element** is two patterns of bits, `got` and `want`. Each becomes an f64: a float exactly, an
//! integer rounded to nearest even. Every operation on f64 is rounded on its own, without fused
//! multiply-add.
//!
//! - Integers: wrong if the bits differ.
//! - Floats, both finite: wrong unless `|got - want| <= absolute + relative * |want|`.
//! - Floats, `want` finite, `got` not: wrong, always.
//! - Floats, `want` not finite: right if `got` is the same (NaN and NaN, whatever their bits; the same
//!   infinity). With `allow_nonfinite` any `got` that is not finite is right as well: an overflow that is
//!   an infinity here may be a NaN there.
//!
//! **Of all elements** are taken:
//! - `mismatched`: how many are wrong;
//! - `never_written`: how many are wrong and have the bits of `poison`'s element of the same number;
//! - `got_nonfinite`: how many `got` are not finite;
//! - `absolute_max`, `relative_max`: the greatest `|got - want|`, and `|got - want| / |want|`, among those
//!   whose both values are finite and, for the latter, whose `want` is not zero; 0 where there is none;
//! - `first_wrong`: the least number of a wrong one, with its values as f64, 0 where there is none.
//!
//! **The verdict**: ok if `mismatched <= (1 - matched_ratio) * count` (in f64) and nothing was never
//! written: a share of the elements may be off, none may be left out. Of integers of 8 and 16 bits, one wrong element
//! in 256 or 65536 has the poison's bits by chance: `never_written` may be as many as chance gives, and as good as never
//! more ([`chance_max`]).

use half::{bf16, f16};

use crate::device::{BufferComparison, BufferTolerance, Fill};
use crate::fill::Filler;
use crate::types::ElementType;

/// Whether counts like these pass, of a buffer with elements of `dtype`.
#[must_use]
pub fn passes(
    mismatched: u64,
    never_written: u64,
    dtype: ElementType,
    count: u64,
    tolerance: &BufferTolerance,
) -> bool {
    let is_written = never_written as f64 <= chance_max(dtype, mismatched);
    is_written && mismatched as f64 <= (1.0 - tolerance.matched_ratio) * count as f64
}

/// The most of `mismatched` elements that have the poison's bits though they were written: the mean, six standard
/// deviations and two more, which chance exceeds once in millions of buffers.
fn chance_max(dtype: ElementType, mismatched: u64) -> f64 {
    let patterns = match dtype {
        ElementType::I8 | ElementType::Ui8 => 256.0,
        ElementType::I16 | ElementType::Ui16 => 65_536.0,
        // The poison of floats is NaN, and wider integers seldom coincide.
        _ => return 0.0,
    };
    if mismatched == 0 {
        return 0.0;
    }
    let mean = mismatched as f64 / patterns;
    mean + 6.0 * mean.sqrt() + 2.0
}

/// Compares the bytes of as many elements as `poison` has, of its type. Both have to be as long.
#[must_use]
pub fn compare(
    got: &[u8],
    want: &[u8],
    poison: &Fill,
    tolerance: &BufferTolerance,
) -> BufferComparison {
    let size = poison.dtype.bytes() as usize;
    assert!(
        got.len() == want.len() && got.len() as u64 == poison.count * poison.dtype.bytes(),
        "buffers of {} and {} bytes are compared as {poison:?}",
        got.len(),
        want.len()
    );
    let filler = Filler::new(poison);
    let mut counts = BufferComparison {
        ok: false,
        mismatched: 0,
        absolute_max: 0.0,
        relative_max: 0.0,
        got_nonfinite: 0,
        never_written: 0,
        first_wrong: None,
        got_there: 0.0,
        want_there: 0.0,
    };
    for (number, (got, want)) in got.chunks_exact(size).zip(want.chunks_exact(size)).enumerate() {
        let (got_bits, want_bits) = (bits(got), bits(want));
        let (got, want) = (value(poison.dtype, got_bits), value(poison.dtype, want_bits));
        counts.got_nonfinite += u64::from(!got.is_finite());
        if got.is_finite() && want.is_finite() {
            let difference = (got - want).abs();
            counts.absolute_max = counts.absolute_max.max(difference);
            if want != 0.0 {
                counts.relative_max = counts.relative_max.max(difference / want.abs());
            }
        }
        let right = if poison.dtype.is_float() {
            is_close(got, want, tolerance)
        } else {
            got_bits == want_bits
        };
        if right {
            continue;
        }
        counts.mismatched += 1;
        counts.never_written += u64::from(got_bits == filler.bits(number as u64));
        if counts.first_wrong.is_none() {
            counts.first_wrong = Some(number as u64);
            (counts.got_there, counts.want_there) = (got, want);
        }
    }
    let Fill { dtype, count, .. } = *poison;
    counts.ok = passes(counts.mismatched, counts.never_written, dtype, count, tolerance);
    counts
}

fn is_close(got: f64, want: f64, tolerance: &BufferTolerance) -> bool {
    if want.is_finite() {
        return got.is_finite()
            && (got - want).abs() <= tolerance.absolute + tolerance.relative * want.abs();
    }
    let same = got == want || (got.is_nan() && want.is_nan());
    same || (tolerance.allow_nonfinite && !got.is_finite())
}

fn bits(element: &[u8]) -> u64 {
    element.iter().rev().fold(0, |bits, byte| (bits << 8) | u64::from(*byte))
}

/// The value of an element, of which only the type's own bits may be set.
#[must_use]
pub fn value(dtype: ElementType, bits: u64) -> f64 {
    match dtype {
        ElementType::Fp64 => f64::from_bits(bits),
        ElementType::Fp32 => f64::from(f32::from_bits(bits as u32)),
        ElementType::Fp16 => f16::from_bits(bits as u16).to_f64(),
        ElementType::Bf16 => bf16::from_bits(bits as u16).to_f64(),
        ElementType::I64 => bits as i64 as f64,
        ElementType::I32 => f64::from(bits as i32),
        ElementType::I16 => f64::from(bits as i16),
        ElementType::I8 => f64::from(bits as i8),
        ElementType::Ui64 | ElementType::Ui32 | ElementType::Ui16 | ElementType::Ui8 => bits as f64,
    }
}

#[cfg(test)]
mod tests;
