//! The content of filled buffers: each element follows from its number, a seed and a stream, and is the same on every
//! device, bit for bit. This page is the definition; a device that fills with its own kernel must follow it.
//!
//! **Random bits** of element `e` (u64) are those of Philox4x32-10, of the key `seed` (low word, high
//! word) and the counter `(e low, e high, stream, rule)`: four words `r0 r1 r2 r3`. `rule` is the number
//! in brackets below. `r10` is `r0 + 2^32 * r1`. Every operation on f64 is rounded to nearest even on its
//! own, without fused multiply-add.
//!
//! | rule | value of element `e` |
//! |---|---|
//! | `Zeros` \[0\] | all bits zero |
//! | `Uniform` \[1\] | `low + (r0 * 2^-32) * (high - low)`, in f64 |
//! | `Normal` \[2\] | `(s * SCALE) * deviation + mean`, in f64: `s` is the sum of the eight halves of `r0 r1 r2 r3`, 16 bits each, less 262140; `SCALE` is the f64 `0x1.3988e1412ed76p-16`, nearest to 1 / sqrt(8 * (65536^2 - 1) / 12) |
//! | `Integers` \[3\] | `low + (r10 * range >> 64)` modulo 2^64, `range = high - low + 1` modulo 2^64; a range of 0 is all 2^64 numbers: `low + r10` |
//! | `Permutation` \[4\] | see below |
//! | `Poison` \[5\] | fp64: `r10` or'ed with `0x7ff8_0000_0000_0000`; fp32: `r0` with `0x7fc0_0000`; fp16: the low half of `r0` with `0x7e00`; bf16: with `0x7fc0`; integers: the low bits of `r10` |
//! | `Guard` \[6\] | ui32 alone: `r0` |
//!
//! **Permutation**: of `x = e`, in a Feistel network over the least even number of bits `b >= 2` with
//! `count <= 2^b`; `left` is the upper and `right` the lower `b / 2` bits. Four rounds, `round` from 0:
//! `(left, right) = (right, left xor (p and (2^(b/2) - 1)))`, where `p` is the first word of Philox of the
//! counter `(right, round, stream, 4)`. The network is run again on its own result until that is less
//! than `count`.
//!
//! **As an element.** Integers of an integer type: the low bits, in two's complement. Floats: the value
//! as an f64 (an integer rounded to nearest even), for fp32, fp16 and bf16 rounded to f32, for the latter
//! two again from f32, always to nearest even.
//!
//! **What is refused** ([`check`]): `Uniform` and `Normal` of integers; bounds that are not finite, in
//! the wrong order, or further apart than an f64 is; integers that the type does not hold; a permutation
//! whose numbers the type does not hold exactly; `Guard` of anything but ui32.

use half::{bf16, f16};

use crate::device::{Fill, FillRule};
use crate::types::ElementType;

mod philox;

pub use philox::philox;

/// 1 / sqrt(8 * (65536^2 - 1) / 12), the nearest f64: `0x1.3988e1412ed76p-16`.
const NORMAL_SCALE: f64 = 1.868_812_365_011_853_4e-5;
const NORMAL_MIDDLE: i32 = 262_140;
const FEISTEL_ROUNDS: u32 = 4;

/// Why a rule does not fit a buffer; the words are for the plugin's author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(String);

/// Whether elements of this type can be made by this rule.
pub fn check(dtype: ElementType, count: u64, rule: FillRule) -> Result<(), Unfit> {
    let refuse = |reason: String| Err(Unfit(reason));
    match rule {
        FillRule::Zeros | FillRule::Poison => Ok(()),
        FillRule::Uniform { .. } | FillRule::Normal { .. } if !dtype.is_float() => {
            refuse(format!("{rule:?} makes fractions, {dtype:?} holds none"))
        }
        FillRule::Uniform { low, high } => {
            if low <= high && low.is_finite() && (high - low).is_finite() {
                return Ok(());
            }
            refuse(format!("uniform numbers from {low} to {high}"))
        }
        FillRule::Normal { mean, deviation } => {
            if mean.is_finite() && deviation.is_finite() && deviation >= 0.0 {
                return Ok(());
            }
            refuse(format!("normal numbers of mean {mean} and deviation {deviation}"))
        }
        FillRule::Integers { low, high } if low > high => {
            refuse(format!("integers from {low} to {high}"))
        }
        FillRule::Integers { low, high } => match integer_bounds(dtype) {
            Some((least, most)) if i128::from(low) < least || i128::from(high) > most => {
                refuse(format!("integers from {low} to {high}, which {dtype:?} does not hold"))
            }
            _ => Ok(()),
        },
        FillRule::Permutation => {
            let most = integer_bounds(dtype).map_or_else(|| exact_max(dtype), |(_, most)| most);
            if i128::from(count) <= most + 1 {
                return Ok(());
            }
            refuse(format!("a permutation of {count}, which {dtype:?} does not hold"))
        }
        FillRule::Guard if dtype != ElementType::Ui32 => refuse(format!("a guard of {dtype:?}")),
        FillRule::Guard => Ok(()),
    }
}

fn integer_bounds(dtype: ElementType) -> Option<(i128, i128)> {
    let signed = match dtype {
        ElementType::I64 | ElementType::I32 | ElementType::I16 | ElementType::I8 => true,
        ElementType::Ui64 | ElementType::Ui32 | ElementType::Ui16 | ElementType::Ui8 => false,
        ElementType::Fp64 | ElementType::Fp32 | ElementType::Fp16 | ElementType::Bf16 => {
            return None;
        }
    };
    let all = 1i128 << (8 * dtype.bytes());
    Some(if signed { (-all / 2, all / 2 - 1) } else { (0, all - 1) })
}

/// Up to here a float has every integer.
fn exact_max(dtype: ElementType) -> i128 {
    1 << match dtype {
        ElementType::Fp32 => 24,
        ElementType::Fp16 => 11,
        ElementType::Bf16 => 8,
        _ => 53,
    }
}

/// Fills the bytes of as many elements as `fill` has, and no more.
pub fn fill(fill: &Fill, bytes: &mut [u8]) {
    let size = fill.dtype.bytes() as usize;
    assert!(bytes.len() as u64 == fill.count * fill.dtype.bytes(), "{} bytes", bytes.len());
    if fill.rule == FillRule::Zeros {
        return bytes.fill(0);
    }
    let filler = Filler::new(fill);
    for (number, element) in bytes.chunks_exact_mut(size).enumerate() {
        element.copy_from_slice(&filler.bits(number as u64).to_le_bytes()[..size]);
    }
}

/// Makes single elements.
#[derive(Debug, Clone, Copy)]
pub struct Filler {
    fill: Fill,
    key: [u32; 2],
    rule: u32,
    /// Bits of one half of the permutation's network.
    half_bits: u32,
}

impl Filler {
    /// The elements of a fill.
    #[must_use]
    pub fn new(fill: &Fill) -> Self {
        let rule = match fill.rule {
            FillRule::Zeros => 0,
            FillRule::Uniform { .. } => 1,
            FillRule::Normal { .. } => 2,
            FillRule::Integers { .. } => 3,
            FillRule::Permutation => 4,
            FillRule::Poison => 5,
            FillRule::Guard => 6,
        };
        let bits = u64::BITS - fill.count.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        Self { fill: *fill, key: words(fill.seed), rule, half_bits }
    }

    /// The bits of an element, the lowest first; those beyond its type are zero.
    #[must_use]
    pub fn bits(&self, element: u64) -> u64 {
        let dtype = self.fill.dtype;
        let mask = u64::MAX >> (64 - 8 * dtype.bytes());
        let bits = match self.fill.rule {
            FillRule::Zeros => 0,
            FillRule::Uniform { low, high } => {
                let share = f64::from(self.random(element)[0]) / 4_294_967_296.0;
                float_bits(dtype, low + share * (high - low))
            }
            FillRule::Normal { mean, deviation } => {
                let halves = self.random(element).map(|word| (word & 0xffff) + (word >> 16));
                let sum = halves.iter().sum::<u32>() as i32 - NORMAL_MIDDLE;
                float_bits(dtype, f64::from(sum) * NORMAL_SCALE * deviation + mean)
            }
            FillRule::Integers { low, high } => {
                let value = low.wrapping_add(self.integer(element, low, high) as i64);
                if dtype.is_float() { float_bits(dtype, value as f64) } else { value as u64 }
            }
            FillRule::Permutation => {
                let value = self.permuted(element);
                if dtype.is_float() { float_bits(dtype, value as f64) } else { value }
            }
            FillRule::Poison => {
                let random = joined(self.random(element));
                match dtype {
                    ElementType::Fp64 => random | 0x7ff8_0000_0000_0000,
                    ElementType::Fp32 => random | 0x7fc0_0000,
                    ElementType::Fp16 => random | 0x7e00,
                    ElementType::Bf16 => random | 0x7fc0,
                    _ => random,
                }
            }
            FillRule::Guard => u64::from(self.random(element)[0]),
        };
        bits & mask
    }

    fn random(&self, element: u64) -> [u32; 4] {
        let [low, high] = words(element);
        philox([low, high, self.fill.stream, self.rule], self.key)
    }

    fn integer(&self, element: u64, low: i64, high: i64) -> u64 {
        let random = joined(self.random(element));
        match (high as u64).wrapping_sub(low as u64).wrapping_add(1) {
            0 => random,
            range => ((u128::from(random) * u128::from(range)) >> 64) as u64,
        }
    }

    fn permuted(&self, element: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = element;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for round in 0..FEISTEL_ROUNDS {
                let counter = [right as u32, round, self.fill.stream, self.rule];
                let random = u64::from(philox(counter, self.key)[0]);
                (left, right) = (right, left ^ (random & mask));
            }
            value = left << self.half_bits | right;
            if value < self.fill.count {
                return value;
            }
        }
    }
}

fn words(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn joined(random: [u32; 4]) -> u64 {
    u64::from(random[0]) | u64::from(random[1]) << 32
}

fn float_bits(dtype: ElementType, value: f64) -> u64 {
    match dtype {
        ElementType::Fp64 => value.to_bits(),
        ElementType::Fp16 => u64::from(f16::from_f32(value as f32).to_bits()),
        ElementType::Bf16 => u64::from(bf16::from_f32(value as f32).to_bits()),
        _ => u64::from((value as f32).to_bits()),
    }
}

#[cfg(test)]
mod tests;
