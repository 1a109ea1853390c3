//! The vocabulary of instructions: types, registers, operands, and how real numbers are computed and compared.

use crate::float::Rounding;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Predicate,
    Bits,
    Unsigned,
    Signed,
    Float,
    Brain,
}

/// The type that an instruction names. `pair` is a packed pair: `f16x2`, `bf16x2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type {
    pub class: Class,
    pub bits: u32,
    pub pair: bool,
}

impl Type {
    pub const PREDICATE: Type = Type { class: Class::Predicate, bits: 1, pair: false };
    pub const U32: Type = Type { class: Class::Unsigned, bits: 32, pair: false };
    pub const F32: Type = Type { class: Class::Float, bits: 32, pair: false };

    pub fn parse(word: &str) -> Option<Type> {
        let (class, bits, pair) = match word {
            "pred" => return Some(Type::PREDICATE),
            "f16" => (Class::Float, 16, false),
            "f16x2" => (Class::Float, 16, true),
            "bf16" => (Class::Brain, 16, false),
            "bf16x2" => (Class::Brain, 16, true),
            "f32" => (Class::Float, 32, false),
            "f64" => (Class::Float, 64, false),
            _ => {
                let class = match word.as_bytes().first()? {
                    b'b' => Class::Bits,
                    b'u' => Class::Unsigned,
                    b's' => Class::Signed,
                    _ => return None,
                };
                let bits = ["8", "16", "32", "64"].iter().position(|bits| *bits == &word[1..])?;
                (class, 8 << bits, false)
            }
        };
        Some(Type { class, bits, pair })
    }

    /// Bits of the register that holds it.
    pub fn width(self) -> u32 {
        if self.pair { 2 * self.bits } else { self.bits }
    }

    pub fn bytes(self) -> u64 {
        u64::from(self.width() / 8)
    }

    pub fn is_integer(self) -> bool {
        matches!(self.class, Class::Bits | Class::Unsigned | Class::Signed)
    }

    pub fn is_real(self) -> bool {
        matches!(self.class, Class::Float | Class::Brain)
    }

    pub fn is_signed(self) -> bool {
        self.class == Class::Signed
    }

    pub fn single(self) -> Type {
        Type { pair: false, ..self }
    }

    pub fn widened(self) -> Type {
        Type { bits: self.bits * 2, ..self }
    }
}

/// The lowest `bits` bits.
pub fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

pub fn sign_extend(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    ((value << unused) as i64) >> unused
}

/// A register's slot, and the bits it holds. What it holds never exceeds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    pub slot: u32,
    pub bits: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    Thread(usize),
    BlockSize(usize),
    Block(usize),
    GridSize(usize),
    Lane,
    Warp,
    Warps,
    /// `%lanemask_lt` and its kin.
    LanesBelow,
    LanesUpTo,
    LanesEqual,
    LanesFrom,
    LanesAbove,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    Register(u32),
    Immediate(u64),
    /// `!p`
    Not(u32),
    Special(Special),
    /// The address of a variable of the module, which is known when it is loaded.
    Symbol(usize),
    /// Where dynamic shared memory begins.
    DynamicShared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Generic,
    Global,
    Constant,
    Shared,
    Local,
    Param,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryOperand {
    pub space: Space,
    pub base: Operand,
    pub offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealModifiers {
    pub rounding: Rounding,
    /// Subnormal inputs and results become zeros of their sign.
    pub flush: bool,
    pub saturate: bool,
    /// `.NaN`: a NaN wins in min and max.
    pub propagate_nan: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOperator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Number,
    NotNumber,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompareTest {
    pub comparison: CompareOperator,
    /// The result if either side is NaN.
    pub unordered: bool,
    pub flush: bool,
    pub kind: Type,
}
