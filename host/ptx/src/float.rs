//! Binary floating point by its definition: a value is rounded once, in the direction asked for.
//!
//! Sums, products, quotients and roots of `f32` and narrower are computed in `f64` and *rounded to odd*
//! there: with more than two spare bits, rounding that once more is rounding the exact value (Boldo and
//! Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd",
//! 2008).

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

/// An interchange format: bits of its exponent and of its fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatFormat {
    pub exponent_bits: u32,
    pub fraction_bits: u32,
}

impl FloatFormat {
    pub const HALF: FloatFormat = FloatFormat { exponent_bits: 5, fraction_bits: 10 };
    pub const BRAIN: FloatFormat = FloatFormat { exponent_bits: 8, fraction_bits: 7 };
    pub const SINGLE: FloatFormat = FloatFormat { exponent_bits: 8, fraction_bits: 23 };
    pub const DOUBLE: FloatFormat = FloatFormat { exponent_bits: 11, fraction_bits: 52 };

    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// The NaN that PTX returns; for `f64` the usual quiet one.
    pub fn nan(self) -> u64 {
        match self {
            FloatFormat::DOUBLE => f64::NAN.to_bits(),
            _ => (1 << (self.exponent_bits + self.fraction_bits)) - 1,
        }
    }

    /// The bits of `significand * 2^exponent`, rounded.
    pub fn pack(self, negative: bool, significand: u64, exponent: i32, rounding: Rounding) -> u64 {
        let sign = u64::from(negative) << (self.exponent_bits + self.fraction_bits);
        if significand == 0 {
            return sign;
        }
        let top = exponent + 63 - significand.leading_zeros() as i32;
        let lowest_normal = 1 - self.bias();
        // The weight of the last bit that is kept.
        let unit = top.max(lowest_normal) - self.fraction_bits as i32;
        let drop = unit - exponent;
        let (kept, dropped, half) = match drop {
            ..=0 => (significand << -drop, 0, 1),
            1..=63 => (significand >> drop, significand & ((1 << drop) - 1), 1 << (drop - 1)),
            64 => (0, significand, 1 << 63),
            _ => (0, 1, 2),
        };
        let up = match rounding {
            Rounding::Nearest => dropped > half || (dropped == half && kept & 1 == 1),
            Rounding::Zero => false,
            Rounding::Down => dropped != 0 && negative,
            Rounding::Up => dropped != 0 && !negative,
        };
        // A carry out of the fraction is a carry into the exponent, from subnormal to normal as well.
        let biased = (top.max(lowest_normal) - lowest_normal) as u64;
        let bits = (biased << self.fraction_bits) + kept + u64::from(up);
        if bits < self.infinity() {
            return sign | bits;
        }
        let toward_zero = match rounding {
            Rounding::Nearest => false,
            Rounding::Zero => true,
            Rounding::Down => !negative,
            Rounding::Up => negative,
        };
        sign | (self.infinity() - u64::from(toward_zero))
    }

    /// `value` in this format.
    pub fn round(self, value: f64, rounding: Rounding) -> u64 {
        if value.is_nan() {
            return self.nan();
        }
        let (negative, significand, exponent) = parts(value);
        if value.is_infinite() {
            return (u64::from(negative) << (self.exponent_bits + self.fraction_bits))
                | self.infinity();
        }
        self.pack(negative, significand, exponent, rounding)
    }

    /// The value of `bits`; every format's values are values of `f64`.
    pub fn value(self, bits: u64) -> f64 {
        if self == FloatFormat::DOUBLE {
            return f64::from_bits(bits);
        }
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let biased = (bits >> self.fraction_bits) & ((1 << self.exponent_bits) - 1);
        let negative = (bits >> (self.exponent_bits + self.fraction_bits)) & 1 == 1;
        let size = if biased == (1 << self.exponent_bits) - 1 {
            if fraction == 0 { f64::INFINITY } else { f64::NAN }
        } else {
            let hidden = u64::from(biased != 0) << self.fraction_bits;
            let exponent = biased.max(1) as i32 - self.bias() - self.fraction_bits as i32;
            (fraction | hidden) as f64 * f64::from_bits(((exponent + 1023) as u64) << 52)
        };
        if negative { -size } else { size }
    }

    /// A subnormal becomes a zero of its sign.
    pub fn flush(self, bits: u64) -> u64 {
        if bits & self.infinity() == 0 {
            bits & (1 << (self.exponent_bits + self.fraction_bits))
        } else {
            bits
        }
    }
}

/// Sign, significand and exponent of a finite value.
pub fn parts(value: f64) -> (bool, u64, i32) {
    let bits = value.to_bits();
    let biased = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let significand = if biased == 0 { fraction } else { fraction | (1 << 52) };
    (value.is_sign_negative(), significand, biased.max(1) - 1075)
}

/// `rounded` is the exact value less `error`, of which only the sign is used.
fn to_odd(rounded: f64, error: f64) -> f64 {
    if error == 0.0 || !rounded.is_finite() || error.is_nan() || rounded.to_bits() & 1 == 1 {
        rounded
    } else if error > 0.0 {
        rounded.next_up()
    } else {
        rounded.next_down()
    }
}

/// The sum, rounded to odd. Exact for values of narrow formats and their products: no overflow.
pub fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let shift = sum - a;
    to_odd(sum, (a - (sum - shift)) + (b - shift))
}

pub fn divide_to_odd(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    let remainder = (-quotient).mul_add(b, a);
    to_odd(quotient, if b < 0.0 { -remainder } else { remainder })
}

pub fn root_to_odd(a: f64) -> f64 {
    let root = a.sqrt();
    to_odd(root, (-root).mul_add(root, a))
}
