//! A task's buffers as numbers: made from a seed, stored as bytes, compared within the tolerance.

use half::f16;
use serde_json::Value;

/// The sizes and scalars of one size.
#[derive(Clone, Copy)]
pub(crate) struct Size<'a>(pub(crate) &'a Value);

impl Size<'_> {
    /// The value of an expression in one of the few forms that tasks use: a number, a name, a product, or
    /// `ceil_div` of one by another.
    pub(crate) fn value(&self, expression: &Value) -> u64 {
        expression.as_u64().unwrap_or_else(|| {
            self.text(expression.as_str().expect("an expression is a number or a text"))
        })
    }

    fn text(&self, text: &str) -> u64 {
        let divided = text.strip_prefix("ceil_div(").and_then(|rest| rest.strip_suffix(')'));
        if let Some((dividend, divisor)) = divided.and_then(|inner| inner.rsplit_once(", ")) {
            return self.text(dividend).div_ceil(self.text(divisor));
        }
        if let Some((left, right)) = text.split_once(" * ") {
            return self.text(left) * self.text(right);
        }
        text.parse().unwrap_or_else(|_| self.of(text))
    }

    pub(crate) fn of(&self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or_else(|| panic!("`{name}` is not a number of {}", self.0))
    }

    pub(crate) fn product(&self, shape: &Value) -> usize {
        let sizes = shape.as_array().expect("a shape is a list").iter();
        sizes.map(|size| self.value(size) as usize).product()
    }

    pub(crate) fn three(&self, sizes: &Value) -> [u32; 3] {
        let mut three = [1; 3];
        for (at, size) in sizes.as_array().expect("sizes are a list").iter().enumerate() {
            three[at] = u32::try_from(self.value(size)).expect("a small number");
        }
        three
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Fp32,
    Fp16,
    I32,
}

impl Kind {
    pub(crate) fn of(dtype: &Value) -> Self {
        match dtype.as_str() {
            Some("fp32") => Self::Fp32,
            Some("fp16") => Self::Fp16,
            Some("i32") => Self::I32,
            _ => panic!("no task has had {dtype} until now"),
        }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Fp32 | Self::I32 => 4,
            Self::Fp16 => 2,
        }
    }

    pub(crate) fn encoded(self, values: &[f64]) -> Vec<u8> {
        match self {
            Self::Fp32 => values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect(),
            Self::Fp16 => {
                values.iter().flat_map(|value| f16::from_f64(*value).to_le_bytes()).collect()
            }
            Self::I32 => values.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect(),
        }
    }

    pub(crate) fn decoded(self, bytes: &[u8]) -> Vec<f64> {
        let four = |chunk: &[u8]| chunk.try_into().expect("a chunk of four");
        match self {
            Self::Fp32 => bytes.chunks(4).map(|b| f32::from_le_bytes(four(b)).into()).collect(),
            Self::I32 => bytes.chunks(4).map(|b| i32::from_le_bytes(four(b)).into()).collect(),
            Self::Fp16 => {
                bytes.chunks(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f64()).collect()
            }
        }
    }
}

/// A generator for tests alone; the device has its own.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn unit(&mut self) -> f64 {
        self.next() as f64 / 2f64.powi(64)
    }

    fn one(&mut self, init: &Value) -> f64 {
        if init == "zeros" {
            return 0.0;
        }
        let (name, pair) = init.as_object().and_then(|init| init.iter().next()).expect("a rule");
        let of = |at: usize| pair[at].as_f64().expect("a number");
        match name.as_str() {
            "uniform" => of(0) + self.unit() * (of(1) - of(0)),
            "normal" => of(0) + of(1) * ((0..12).map(|_| self.unit()).sum::<f64>() - 6.0),
            "integers" => (of(0) + self.unit() * (of(1) - of(0) + 1.0)).floor(),
            _ => panic!("no task has had {name} until now"),
        }
    }

    /// As a buffer of this kind holds them.
    pub(crate) fn filled(&mut self, kind: Kind, init: &Value, count: usize) -> Vec<f64> {
        let values: Vec<f64> = (0..count).map(|_| self.one(init)).collect();
        kind.decoded(&kind.encoded(&values))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    absolute: f64,
    relative: f64,
}

impl Tolerance {
    pub(crate) fn of(written: &Value) -> Self {
        assert_eq!(written["matched_ratio"], 1.0, "no task has forgiven any element until now");
        let number = |name: &str| written[name].as_f64().expect("a number");
        Self { absolute: number("absolute"), relative: number("relative") }
    }

    pub(crate) fn equal(&self, got: f64, want: f64) -> bool {
        (got - want).abs() <= self.absolute + self.relative * want.abs()
    }
}
