//! Conversions to and from the formats of tensor cores: `e4m3` and `e5m2` (fp8), and `tf32`.

use crate::float::{FloatFormat, Rounding};

/// A float of eight bits (OCP 8-bit floating point). `e4m3` has no infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteFloat {
    E4m3,
    E5m2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NarrowConversion {
    /// Two `f32`, the first one high, into two bytes.
    FromSingles {
        to: ByteFloat,
        rectify: bool,
    },
    /// A pair of halves into two bytes.
    FromHalves {
        to: ByteFloat,
        rectify: bool,
    },
    ToHalves {
        from: ByteFloat,
        rectify: bool,
    },
    ToTf32 {
        mode: Tf32Rounding,
        rectify: bool,
        finite: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tf32Rounding {
    Even,
    Away,
    Zero,
}

/// The bits of a register that `tf32` reads.
pub const TF32_MASK: u64 = 0xffff_e000;

impl ByteFloat {
    fn fraction_bits(self) -> u32 {
        match self {
            ByteFloat::E4m3 => 3,
            ByteFloat::E5m2 => 2,
        }
    }

    fn bias(self) -> i32 {
        match self {
            ByteFloat::E4m3 => 7,
            ByteFloat::E5m2 => 15,
        }
    }

    fn largest(self) -> u8 {
        match self {
            ByteFloat::E4m3 => 0x7e,
            ByteFloat::E5m2 => 0x7b,
        }
    }

    pub fn value(self, byte: u8) -> f64 {
        let size = byte & 0x7f;
        let magnitude = if size > self.largest() {
            let infinite = self == ByteFloat::E5m2 && size == 0x7c;
            if infinite { f64::INFINITY } else { f64::NAN }
        } else {
            let biased = i32::from(size >> self.fraction_bits());
            let hidden = u8::from(biased != 0) << self.fraction_bits();
            let fraction = size & ((1 << self.fraction_bits()) - 1);
            let exponent = biased.max(1) - self.bias() - self.fraction_bits() as i32;
            f64::from(fraction | hidden) * 2f64.powi(exponent)
        };
        if byte & 0x80 == 0 { magnitude } else { -magnitude }
    }

    /// Rounded to nearest, even on a tie; what is too large becomes the largest value (`.satfinite`).
    pub fn round(self, value: f64) -> u8 {
        if value.is_nan() {
            return 0x7f;
        }
        let sign = u8::from(value.is_sign_negative()) << 7;
        let size = value.abs();
        let largest = self.value(self.largest());
        if size >= largest {
            return sign | self.largest();
        }
        // The weight of the last bit that is kept; bits are in the order of values.
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(1 - self.bias());
        let units = (size / 2f64.powi(exponent - self.fraction_bits() as i32)).round_ties_even();
        let biased = (exponent + self.bias() - 1) as u8;
        sign | ((biased << self.fraction_bits()) + units as u8).min(self.largest())
    }
}

pub fn convert(conversion: NarrowConversion, a: u64, b: u64) -> u64 {
    let rectified = |value: f64, rectify| if rectify && value <= 0.0 { 0.0 } else { value };
    match conversion {
        NarrowConversion::FromSingles { to, rectify } => {
            let byte =
                |bits: u64| to.round(rectified(f64::from(f32::from_bits(bits as u32)), rectify));
            u64::from(byte(a)) << 8 | u64::from(byte(b))
        }
        NarrowConversion::FromHalves { to, rectify } => {
            let byte =
                |bits: u64| to.round(rectified(FloatFormat::HALF.value(bits & 0xffff), rectify));
            u64::from(byte(a >> 16)) << 8 | u64::from(byte(a))
        }
        NarrowConversion::ToHalves { from, rectify } => {
            let half = |byte: u64| {
                let value = rectified(from.value(byte as u8), rectify);
                FloatFormat::HALF.round(value, Rounding::Nearest)
            };
            half(a >> 8) << 16 | half(a)
        }
        NarrowConversion::ToTf32 { mode, rectify, finite } => tf32(a, mode, rectify, finite),
    }
}

fn tf32(bits: u64, mode: Tf32Rounding, rectify: bool, finite: bool) -> u64 {
    let value = f32::from_bits(bits as u32);
    if value.is_nan() {
        return FloatFormat::SINGLE.nan();
    }
    if rectify && value <= 0.0 {
        return 0;
    }
    let added = match mode {
        _ if value.is_infinite() => 0,
        Tf32Rounding::Zero => 0,
        Tf32Rounding::Away => 0x1000,
        Tf32Rounding::Even => 0xfff + ((bits >> 13) & 1),
    };
    // A carry out of the fraction is a carry into the exponent.
    let rounded = (bits + added) & TF32_MASK;
    let largest = 0x7f7f_e000;
    if finite && rounded & 0x7fff_ffff > largest {
        return (rounded & 0x8000_0000) | largest;
    }
    rounded
}
