//! Matrices that a warp holds together: products (`mma`, `wmma.mma`) and their loads and stores (`ldmatrix`,
//! `stmatrix`, `wmma.load`, `wmma.store`, `movmatrix`).
//!
//! A product is computed in `f64` and each element is rounded once, to nearest: closer to the true value than a
//! device, whose sums of tensor cores are rounded in an order and at a width that NVIDIA does not state. Sums of
//! integers are exact.

use crate::error::FaultKind;
use crate::fragment::{Fragment, MatrixAccess, MatrixLines, MatrixProduct, MatrixShape};
use crate::launch::access::number;
use crate::launch::block::BlockContext;
use crate::launch::warp::Warp;
use crate::limits::WARP_LANES;
use crate::memory::Need;
use crate::operand::{MemoryOperand, Operand, Register, Space, mask};

type Failure = (usize, FaultKind);

impl Warp {
    pub(crate) fn product(&mut self, context: &BlockContext<'_>, product: &MatrixProduct) {
        let [left, right, mut sum] = [(product.left, 0), (product.right, 1), (product.sum, 2)]
            .map(|(fragment, at)| self.matrix(context, fragment, &product.sources[at]));
        let MatrixShape { n, k, .. } = product.sum.shape;
        for (sums, row) in sum.chunks_exact_mut(n).zip(left.chunks_exact(k)) {
            for (a, line) in row.iter().zip(right.chunks_exact(n)) {
                for (sum, b) in sums.iter_mut().zip(line) {
                    *sum += a * b;
                }
            }
        }
        let result = Fragment { element: product.result, ..product.sum };
        let pack = |value: f64| product.result.pack(value, product.saturate);
        self.spread(result, &product.targets, &sum.into_iter().map(pack).collect::<Vec<_>>());
    }

    /// The values of a matrix by rows.
    fn matrix(&self, context: &BlockContext<'_>, fragment: Fragment, from: &[Operand]) -> Vec<f64> {
        let bits = self.gathered(context, fragment, from);
        bits.into_iter().map(|bits| fragment.element.value(bits)).collect()
    }

    fn gathered(
        &self,
        context: &BlockContext<'_>,
        fragment: Fragment,
        from: &[Operand],
    ) -> Vec<u64> {
        let (rows, columns) = fragment.size();
        let keep = mask(fragment.element.bits());
        let mut matrix = vec![0; rows * columns];
        for (lane, register, cell, shift) in fragment.cells() {
            matrix[cell] = (self.read(context, from[register], lane) >> shift) & keep;
        }
        matrix
    }

    fn spread(&mut self, fragment: Fragment, targets: &[Register], matrix: &[u64]) {
        for (lane, register, cell, shift) in fragment.cells() {
            let target = targets[register];
            let before = if shift == 0 { 0 } else { self.register(target, lane) };
            self.write(target, lane, before | matrix[cell] << shift);
        }
    }

    pub(crate) fn matrix_access(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        access: &MatrixAccess,
    ) -> Result<(), Failure> {
        match access {
            MatrixAccess::LoadRows { address, targets, transposed } => {
                for (at, target) in targets.iter().enumerate() {
                    let mut matrix = [[0u16; 8]; 8];
                    for (row, halves) in matrix.iter_mut().enumerate() {
                        let bytes = self.row(context, shared, *address, (at, row), Need::Read)?;
                        for (half, bytes) in halves.iter_mut().zip(bytes.chunks_exact(2)) {
                            *half = number(bytes) as u16;
                        }
                    }
                    self.spread_halves(*target, &matrix, *transposed);
                }
            }
            MatrixAccess::StoreRows { address, sources, transposed } => {
                for (at, source) in sources.iter().enumerate() {
                    let matrix = self.gather_halves(context, *source, *transposed);
                    for (row, halves) in matrix.iter().enumerate() {
                        let bytes = self.row(context, shared, *address, (at, row), Need::Write)?;
                        for (half, bytes) in halves.iter().zip(bytes.chunks_exact_mut(2)) {
                            bytes.copy_from_slice(&half.to_le_bytes());
                        }
                    }
                }
            }
            MatrixAccess::Load { fragment, lines, targets } => {
                let (rows, columns) = fragment.size();
                let mut matrix = vec![0; rows * columns];
                self.lines(context, shared, *fragment, lines, Need::Read, |at, bytes| {
                    matrix[at] = number(bytes);
                })?;
                self.spread(*fragment, targets, &matrix);
            }
            MatrixAccess::Store { fragment, lines, sources } => {
                let matrix = self.gathered(context, *fragment, sources);
                self.lines(context, shared, *fragment, lines, Need::Write, |at, bytes| {
                    let length = bytes.len();
                    bytes.copy_from_slice(&matrix[at].to_le_bytes()[..length]);
                })?;
            }
        }
        Ok(())
    }

    /// The 16 bytes of a row of a matrix, whose address a lane has.
    fn row<'v>(
        &'v mut self,
        context: &'v mut BlockContext<'_>,
        shared: &'v mut [u8],
        address: MemoryOperand,
        (matrix, row): (usize, usize),
        need: Need,
    ) -> Result<&'v mut [u8], Failure> {
        let lane = matrix * 8 + row;
        let place = self.place(context, address, lane);
        if place.0 != Space::Shared {
            return Err((lane, FaultKind::BadOperand("the rows are not in shared memory")));
        }
        self.view(context, shared, place, 16, lane, need).map_err(|kind| (lane, kind))
    }

    fn spread_halves(&mut self, target: Register, matrix: &[[u16; 8]; 8], transposed: bool) {
        for lane in 0..WARP_LANES {
            let (line, pair) = (lane / 4, lane % 4 * 2);
            let half =
                |at: usize| u64::from(if transposed { matrix[at][line] } else { matrix[line][at] });
            self.write(target, lane, half(pair) | half(pair + 1) << 16);
        }
    }

    fn gather_halves(
        &self,
        context: &BlockContext<'_>,
        source: Operand,
        transposed: bool,
    ) -> [[u16; 8]; 8] {
        let mut matrix = [[0; 8]; 8];
        for lane in 0..WARP_LANES {
            let (line, pair) = (lane / 4, lane % 4 * 2);
            let bits = self.read(context, source, lane);
            for (at, half) in [(pair, bits as u16), (pair + 1, (bits >> 16) as u16)] {
                *(if transposed { &mut matrix[at][line] } else { &mut matrix[line][at] }) = half;
            }
        }
        matrix
    }

    pub(crate) fn transpose(
        &mut self,
        context: &BlockContext<'_>,
        target: Register,
        source: Operand,
    ) {
        let matrix = self.gather_halves(context, source, true);
        self.spread_halves(target, &matrix, false);
    }

    /// Calls `each` with the place and the bytes of each element. Address and stride are those of the first lane:
    /// PTX has them alike in all.
    fn lines(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        fragment: Fragment,
        lines: &MatrixLines,
        need: Need,
        mut each: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), Failure> {
        let fault = |kind| (0, kind);
        let (rows, columns) = fragment.size();
        let bytes = u64::from(fragment.element.bits() / 8);
        let (space, start) = self.place(context, lines.address, 0);
        let together = if lines.rows { columns } else { rows } as u64;
        let stride = lines.stride.map_or(together, |stride| self.read(context, stride, 0));
        if !start.is_multiple_of(16) {
            return Err(fault(FaultKind::Misaligned { address: start, bytes: 16 }));
        }
        if !stride.wrapping_mul(bytes).is_multiple_of(16) {
            let problem = "the stride of a matrix is not a multiple of 16 bytes";
            return Err(fault(FaultKind::BadOperand(problem)));
        }
        for row in 0..rows {
            for column in 0..columns {
                let (line, along) = if lines.rows { (row, column) } else { (column, row) };
                let at = stride.wrapping_mul(line as u64).wrapping_add(along as u64);
                let address = start.wrapping_add(at.wrapping_mul(bytes));
                let view = self.view(context, shared, (space, address), bytes, 0, need);
                each(row * columns + column, view.map_err(fault)?);
            }
        }
        Ok(())
    }
}
