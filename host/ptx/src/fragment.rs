//! Matrices as the lanes of a warp hold them: which element of which matrix is in which register of which lane.
//!
//! The fragments of `mma` are laid out as the PTX ISA has them (9.7.14). It leaves those of `wmma` open: here a lane holds
//! elements that follow one another.

use crate::float::{FloatFormat, Rounding};
use crate::limits::WARP_LANES;
use crate::narrow::{ByteFloat, TF32_MASK};
use crate::operand::{MemoryOperand, Operand, Register, mask, sign_extend};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixElement {
    Half,
    Brain,
    Tf32,
    Single,
    Double,
    Byte(ByteFloat),
    Unsigned8,
    Signed8,
    Signed32,
}

/// The matrix of a product that a fragment is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixRole {
    /// m by k
    Left,
    /// k by n
    Right,
    /// m by n
    Sum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixShape {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FragmentLayout {
    Mma,
    Wmma,
}

/// How the elements of a matrix are spread over the lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    pub role: MatrixRole,
    pub element: MatrixElement,
    pub shape: MatrixShape,
    pub layout: FragmentLayout,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixProduct {
    pub left: Fragment,
    pub right: Fragment,
    pub sum: Fragment,
    /// The element of the result, whose layout is that of the sum.
    pub result: MatrixElement,
    /// Integers that are too large become the largest one.
    pub saturate: bool,
    pub targets: Vec<Register>,
    pub sources: [Vec<Operand>; 3],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatrixAccess {
    /// `ldmatrix`: matrices of 8 by 8 halves, whose rows lanes give addresses of.
    LoadRows {
        address: MemoryOperand,
        targets: Vec<Register>,
        transposed: bool,
    },
    StoreRows {
        address: MemoryOperand,
        sources: Vec<Operand>,
        transposed: bool,
    },
    /// `wmma.load`
    Load {
        fragment: Fragment,
        lines: MatrixLines,
        targets: Vec<Register>,
    },
    Store {
        fragment: Fragment,
        lines: MatrixLines,
        sources: Vec<Operand>,
    },
}

/// A matrix in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixLines {
    pub address: MemoryOperand,
    /// Elements from one line to the next; lines that follow one another if there is none.
    pub stride: Option<Operand>,
    /// Whether lines are rows.
    pub rows: bool,
}

impl MatrixElement {
    pub fn bits(self) -> u32 {
        match self {
            MatrixElement::Byte(_) | MatrixElement::Unsigned8 | MatrixElement::Signed8 => 8,
            MatrixElement::Half | MatrixElement::Brain => 16,
            MatrixElement::Tf32 | MatrixElement::Single | MatrixElement::Signed32 => 32,
            MatrixElement::Double => 64,
        }
    }

    pub fn register_bits(self) -> u32 {
        self.bits().max(32)
    }

    fn per_register(self) -> usize {
        (self.register_bits() / self.bits()) as usize
    }

    pub fn value(self, bits: u64) -> f64 {
        match self {
            MatrixElement::Half => FloatFormat::HALF.value(bits),
            MatrixElement::Brain => f64::from(f32::from_bits((bits as u32) << 16)),
            MatrixElement::Tf32 => f64::from(f32::from_bits((bits & TF32_MASK) as u32)),
            MatrixElement::Single => f64::from(f32::from_bits(bits as u32)),
            MatrixElement::Double => f64::from_bits(bits),
            MatrixElement::Byte(format) => format.value(bits as u8),
            MatrixElement::Unsigned8 => f64::from(bits as u8),
            MatrixElement::Signed8 => f64::from(bits as u8 as i8),
            MatrixElement::Signed32 => sign_extend(bits, 32) as f64,
        }
    }

    pub fn pack(self, value: f64, saturate: bool) -> u64 {
        match self {
            MatrixElement::Half => FloatFormat::HALF.round(value, Rounding::Nearest),
            MatrixElement::Signed32 if saturate => u64::from(value as i32 as u32),
            // Sums of products of bytes are whole numbers far below 2^53.
            MatrixElement::Signed32 => value as i64 as u64 & mask(32),
            MatrixElement::Double => value.to_bits(),
            _ if value.is_nan() => FloatFormat::SINGLE.nan(),
            _ => u64::from((value as f32).to_bits()),
        }
    }
}

impl Fragment {
    /// Rows and columns.
    pub fn size(self) -> (usize, usize) {
        let MatrixShape { m, n, k } = self.shape;
        match self.role {
            MatrixRole::Left => (m, k),
            MatrixRole::Right => (k, n),
            MatrixRole::Sum => (m, n),
        }
    }

    /// The registers of a lane.
    pub fn registers(self) -> usize {
        let (rows, columns) = self.size();
        let halves = self.element == MatrixElement::Half && self.role != MatrixRole::Sum;
        if self.layout == FragmentLayout::Wmma && halves {
            // Every shape has as many: some elements are held several times.
            return 8;
        }
        (rows * columns / WARP_LANES).div_ceil(self.element.per_register())
    }

    /// Row and column of an element of a lane.
    fn cell(self, lane: usize, element: usize) -> (usize, usize) {
        if self.layout == FragmentLayout::Wmma {
            let (rows, columns) = self.size();
            let held = self.registers() * self.element.per_register();
            let at = (lane * held + element) % (rows * columns);
            return (at / columns, at % columns);
        }
        let (group, within) = (lane / 4, lane % 4);
        let per = self.element.per_register();
        let (register, part) = (element / per, element % per);
        match self.role {
            // Two registers are eight rows apart; the next two are further along k.
            MatrixRole::Left => {
                let column = within * per + part + register / 2 * 4 * per;
                (group + 8 * (register % 2), column)
            }
            MatrixRole::Right => (within * per + part + register * 4 * per, group),
            MatrixRole::Sum => (group + 8 * (element / 2), within * 2 + element % 2),
        }
    }

    /// The cell of each element of each lane, in a matrix that is stored by rows.
    pub fn cells(self) -> impl Iterator<Item = (usize, usize, usize, u32)> {
        let (_, columns) = self.size();
        let (bits, per) = (self.element.bits(), self.element.per_register());
        let held = self.registers() * per;
        (0..WARP_LANES).flat_map(move |lane| {
            (0..held).map(move |element| {
                let (row, column) = self.cell(lane, element);
                (lane, element / per, row * columns + column, (element % per) as u32 * bits)
            })
        })
    }
}

impl MatrixProduct {
    /// The steps that it costs beside the step of each lane, which covers some multiplications.
    pub fn cost(&self) -> u64 {
        let MatrixShape { m, n, k } = self.sum.shape;
        (m * n * k / 8) as u64
    }
}

impl MatrixAccess {
    pub fn cost(&self) -> u64 {
        match self {
            MatrixAccess::LoadRows { targets, .. } => targets.len() as u64 * 32,
            MatrixAccess::StoreRows { sources, .. } => sources.len() as u64 * 32,
            MatrixAccess::Load { fragment, .. } | MatrixAccess::Store { fragment, .. } => {
                let (rows, columns) = fragment.size();
                (rows * columns) as u64
            }
        }
    }
}
