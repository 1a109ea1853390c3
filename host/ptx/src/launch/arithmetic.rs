//! Arithmetic of a warp: what most instructions do runs over all lanes at once, the rest lane by lane.
//! Each short way gives the bits that the long one in `integer` and `real` gives.

use crate::convert::{convert, convert_pair};
use crate::float::Rounding;
use crate::integer::{self, IntegerFunction};
use crate::launch::access::{space_of, window};
use crate::launch::block::BlockContext;
use crate::launch::warp::{Lanes, Warp, lanes};
use crate::limits::WARP_LANES;
use crate::narrow;
use crate::operand::{
    Class, CompareOperator, CompareTest, Operand, RealModifiers, Register, Type, mask, sign_extend,
};
use crate::program::{Join, ValueFunction};
use crate::real::{self, RealFunction};

/// The NaN that single-precision instructions give.
const NAN: u32 = 0x7fff_ffff;
const SIGN: u64 = 0x8000_0000;
/// The last bits of an `f64` that is half-way between two singles.
const TIE: u64 = 0x1000_0000;

impl Warp {
    /// An operand of all lanes.
    pub(crate) fn gather(&self, context: &BlockContext<'_>, operand: Operand) -> Lanes {
        match operand {
            Operand::Register(slot) => *self.lanes_of(slot),
            Operand::Not(slot) => self.lanes_of(slot).map(|value| value ^ 1),
            Operand::Special(_) => {
                let mut values = [0; WARP_LANES];
                for lane in lanes(self.live()) {
                    values[lane] = self.read(context, operand, lane);
                }
                values
            }
            Operand::Immediate(_) | Operand::Symbol(_) | Operand::DynamicShared => {
                [self.read(context, operand, 0); WARP_LANES]
            }
        }
    }

    /// Writes a register in the lanes of `run`.
    pub(crate) fn set(&mut self, target: Register, run: u32, values: &Lanes) {
        let keep = mask(target.bits);
        let written = self.lanes_of_mut(target.slot);
        if run == u32::MAX {
            for (written, value) in written.iter_mut().zip(values) {
                *written = value & keep;
            }
        } else {
            for lane in lanes(run) {
                written[lane] = values[lane] & keep;
            }
        }
    }

    pub(crate) fn compute(
        &mut self,
        context: &BlockContext<'_>,
        (function, kind): (ValueFunction, Type),
        target: Register,
        sources: &[Operand; 4],
        run: u32,
    ) {
        let values = self.short_way(context, function, kind, sources).unwrap_or_else(|| {
            let sources = sources.map(|source| self.gather(context, source));
            let mut values = [0; WARP_LANES];
            for lane in lanes(run) {
                values[lane] = value(function, kind, [0, 1, 2, 3].map(|at| sources[at][lane]));
            }
            values
        });
        self.set(target, run, &values);
    }

    /// `None` where there is none. Lanes that do not take part may hold anything.
    fn short_way(
        &self,
        context: &BlockContext<'_>,
        function: ValueFunction,
        kind: Type,
        &[a, b, c, _]: &[Operand; 4],
    ) -> Option<Lanes> {
        use IntegerFunction as I;
        let get = |operand| self.gather(context, operand);
        let one = |f: fn(u64) -> u64| get(a).map(f);
        Some(match function {
            ValueFunction::Copy => get(a),
            ValueFunction::Select => {
                three([get(a), get(b), get(c)], |a, b, c| if c == 1 { a } else { b })
            }
            ValueFunction::ToGeneric(space) => {
                let window = window(space);
                get(a).map(|address| address.wrapping_add(window))
            }
            ValueFunction::FromGeneric(space) => {
                let window = window(space);
                get(a).map(|address| address.wrapping_sub(window))
            }
            ValueFunction::Integer(function) => match function {
                I::Add => two([get(a), get(b)], u64::wrapping_add),
                I::Subtract => two([get(a), get(b)], u64::wrapping_sub),
                I::And => two([get(a), get(b)], |a, b| a & b),
                I::Or => two([get(a), get(b)], |a, b| a | b),
                I::Xor => two([get(a), get(b)], |a, b| a ^ b),
                I::Not => one(|a| !a),
                // The low bits of a product do not depend on signs.
                I::MultiplyLow => two([get(a), get(b)], u64::wrapping_mul),
                I::MultiplyAddLow => {
                    three([get(a), get(b), get(c)], |a, b, c| a.wrapping_mul(b).wrapping_add(c))
                }
                I::MultiplyWide | I::MultiplyAddWide if kind.bits == 32 => {
                    let products = if kind.is_signed() {
                        two([get(a), get(b)], |a, b| {
                            (sign_extend(a, 32).wrapping_mul(sign_extend(b, 32))) as u64
                        })
                    } else {
                        two([get(a), get(b)], u64::wrapping_mul)
                    };
                    match function {
                        I::MultiplyAddWide => two([products, get(c)], u64::wrapping_add),
                        _ => products,
                    }
                }
                I::ShiftLeft => {
                    let bits = u64::from(kind.bits);
                    two([get(a), get(b)], |a, b| if b >= bits { 0 } else { a << b })
                }
                I::ShiftRight if !kind.is_signed() => {
                    let bits = u64::from(kind.bits);
                    two([get(a), get(b)], |a, b| if b >= bits { 0 } else { a >> b })
                }
                _ => return None,
            },
            ValueFunction::Real(function, modifiers)
                if kind == Type::F32
                    && modifiers.rounding == Rounding::Nearest
                    && !modifiers.saturate =>
            {
                return self.single(context, function, modifiers, [a, b, c]);
            }
            _ => return None,
        })
    }

    fn single(
        &self,
        context: &BlockContext<'_>,
        function: RealFunction,
        modifiers: RealModifiers,
        [a, b, c]: [Operand; 3],
    ) -> Option<Lanes> {
        let get = |operand| {
            let mut values = self.gather(context, operand);
            if modifiers.flush {
                values = values.map(flush);
            }
            values
        };
        let mut values = match function {
            RealFunction::Add => two([get(a), get(b)], |a, b| bits(float(a) + float(b))),
            RealFunction::Subtract => two([get(a), get(b)], |a, b| bits(float(a) - float(b))),
            RealFunction::Multiply => two([get(a), get(b)], |a, b| bits(float(a) * float(b))),
            RealFunction::Divide => two([get(a), get(b)], |a, b| bits(float(a) / float(b))),
            RealFunction::Negate => get(a).map(|a| bits(float(a ^ SIGN))),
            RealFunction::Absolute => get(a).map(|a| bits(float(a & !SIGN))),
            RealFunction::Reciprocal => get(a).map(|a| bits(1.0 / float(a))),
            RealFunction::Root => get(a).map(|a| bits(float(a).sqrt())),
            RealFunction::Exponential => get(a).map(|a| bits(f64::from(float(a)).exp2() as f32)),
            RealFunction::MultiplyAdd => fused([get(a), get(b), get(c)]),
            RealFunction::Maximum | RealFunction::Minimum if !modifiers.propagate_nan => {
                let maximum = function == RealFunction::Maximum;
                two([get(a), get(b)], |a, b| extreme(maximum, a, b))
            }
            _ => return None,
        };
        if modifiers.flush {
            values = values.map(flush);
        }
        Some(values)
    }

    /// The lanes in which a test holds, and those in which it fails, joined with another predicate.
    pub(crate) fn test(
        &self,
        context: &BlockContext<'_>,
        test: CompareTest,
        join: Option<(Join, Operand)>,
        sources: [Operand; 2],
        run: u32,
    ) -> [u32; 2] {
        let [a, b] = sources.map(|source| self.gather(context, source));
        let holds = if test.kind.is_real() {
            reals_hold(test, &a, &b, run)
        } else {
            integers_hold(test, &a, &b)
        };
        let Some((join, other)) = join else {
            return [holds, !holds];
        };
        let other = ballot(&self.gather(context, other), &[1; WARP_LANES], |a, b| a == b);
        [holds, !holds].map(|holds| match join {
            Join::And => holds & other,
            Join::Or => holds | other,
            Join::Xor => holds ^ other,
        })
    }
}

fn two([a, b]: [Lanes; 2], f: impl Fn(u64, u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

fn three([a, b, c]: [Lanes; 3], f: impl Fn(u64, u64, u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]))
}

fn ballot(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> bool) -> u32 {
    let mut set = 0;
    for lane in 0..WARP_LANES {
        set |= u32::from(f(a[lane], b[lane])) << lane;
    }
    set
}

fn integers_hold(test: CompareTest, a: &Lanes, b: &Lanes) -> u32 {
    let bits = test.kind.bits;
    // With the top bit turned, signed numbers are in the order of unsigned ones.
    let turned = if test.kind.is_signed() { 1_u64 << (bits - 1) } else { 0 };
    let key = |value: u64| value ^ turned;
    match test.comparison {
        CompareOperator::Equal => ballot(a, b, |a, b| a == b),
        CompareOperator::NotEqual => ballot(a, b, |a, b| a != b),
        CompareOperator::Less => ballot(a, b, |a, b| key(a) < key(b)),
        CompareOperator::LessEqual => ballot(a, b, |a, b| key(a) <= key(b)),
        CompareOperator::Greater => ballot(a, b, |a, b| key(a) > key(b)),
        CompareOperator::GreaterEqual => ballot(a, b, |a, b| key(a) >= key(b)),
        CompareOperator::Number => u32::MAX,
        CompareOperator::NotNumber => 0,
    }
}

fn reals_hold(test: CompareTest, a: &Lanes, b: &Lanes, run: u32) -> u32 {
    if test.kind.class != Class::Float || test.kind.bits != 32 || test.flush {
        let holds = lanes(run).filter(|lane| real::holds(test, a[*lane], b[*lane]));
        return holds.fold(0, |set, lane| set | 1 << lane);
    }
    let apart = ballot(a, b, |a, b| float(a).is_nan() || float(b).is_nan());
    let ordered = match test.comparison {
        CompareOperator::Equal => ballot(a, b, |a, b| float(a) == float(b)),
        CompareOperator::NotEqual => ballot(a, b, |a, b| float(a) != float(b)),
        CompareOperator::Less => ballot(a, b, |a, b| float(a) < float(b)),
        CompareOperator::LessEqual => ballot(a, b, |a, b| float(a) <= float(b)),
        CompareOperator::Greater => ballot(a, b, |a, b| float(a) > float(b)),
        CompareOperator::GreaterEqual => ballot(a, b, |a, b| float(a) >= float(b)),
        CompareOperator::Number => u32::MAX,
        CompareOperator::NotNumber => 0,
    };
    (ordered & !apart) | if test.unordered { apart } else { 0 }
}

fn float(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn bits(value: f32) -> u64 {
    u64::from(if value.is_nan() { NAN } else { value.to_bits() })
}

fn flush(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

fn extreme(maximum: bool, a: u64, b: u64) -> u64 {
    let (x, y) = (float(a), float(b));
    if x.is_nan() || y.is_nan() {
        return bits(if x.is_nan() { y } else { x });
    }
    // The total order puts -0 below +0, as PTX does.
    if x.total_cmp(&y).is_lt() == maximum { b } else { a }
}

/// `a * b + c`, rounded once. The product of two singles is exact in `f64`; the sum is rounded there first, which
/// makes a difference for the second rounding only where the first one ends at a tie, or where the result may be
/// subnormal.
fn fused([a, b, c]: [Lanes; 3]) -> Lanes {
    let sums: [f64; WARP_LANES] = std::array::from_fn(|lane| {
        f64::from(float(a[lane])) * f64::from(float(b[lane])) + f64::from(float(c[lane]))
    });
    let mut values: Lanes = std::array::from_fn(|lane| bits(sums[lane] as f32));
    let mut doubtful = 0;
    for (lane, sum) in sums.iter().enumerate() {
        let tie = sum.to_bits() & (2 * TIE - 1) == TIE;
        let small = sum.abs() < f64::from(f32::MIN_POSITIVE) * 2.0;
        doubtful |= u32::from(tie || small) << lane;
    }
    for lane in lanes(doubtful) {
        values[lane] = bits(float(a[lane]).mul_add(float(b[lane]), float(c[lane])));
    }
    values
}

/// An instruction on one lane.
fn value(function: ValueFunction, kind: Type, values: [u64; 4]) -> u64 {
    let [a, b, c, _] = values;
    match function {
        ValueFunction::Copy => a,
        ValueFunction::Select => {
            if c == 1 {
                a
            } else {
                b
            }
        }
        ValueFunction::Integer(function) => integer::evaluate(function, kind, values),
        ValueFunction::Real(function, modifiers) => {
            real::evaluate(function, modifiers, kind, [a, b, c])
        }
        ValueFunction::Convert(conversion) if conversion.to.pair => convert_pair(conversion, a, b),
        ValueFunction::Convert(conversion) => convert(conversion, a),
        ValueFunction::Narrow(conversion) => narrow::convert(conversion, a, b),
        ValueFunction::DotProduct(signed) => dot(signed, [a, b, c]),
        ValueFunction::IsIn(space) => u64::from(space_of(a) == space),
        ValueFunction::ToGeneric(space) => window(space).wrapping_add(a),
        ValueFunction::FromGeneric(space) => a.wrapping_sub(window(space)),
    }
}

fn dot([left, right]: [bool; 2], [a, b, c]: [u64; 3]) -> u64 {
    let byte = |word: u64, at: u32, signed: bool| {
        let byte = (word >> (8 * at)) & 0xff;
        if signed { sign_extend(byte, 8) } else { byte as i64 }
    };
    let products = (0..4).map(|at| byte(a, at, left) * byte(b, at, right));
    c.wrapping_add(products.sum::<i64>() as u64)
}
