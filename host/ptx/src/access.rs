//! Loads, stores and atomic operations of one lane, in whatever memory the address lies in.

use crate::block::BlockContext;
use crate::error::FaultKind;
use crate::float::{FloatFormat, Rounding};
use crate::integer::less;
use crate::memory::Need;
use crate::program::{
    AtomicFunction, MemoryOperand, Operand, Operation, RealModifiers, Space, Type, mask,
    sign_extend,
};
use crate::real::{self, RealFunction};
use crate::warp::Warp;

/// Generic addresses: each lane's memories show at these, and what is beneath is global.
const WINDOW_BITS: u32 = 56;

/// The number that makes an address in a space generic when it is added.
pub fn window(space: Space) -> u64 {
    match space {
        Space::Shared => 1 << WINDOW_BITS,
        Space::Local => 2 << WINDOW_BITS,
        Space::Param => 3 << WINDOW_BITS,
        Space::Generic | Space::Global | Space::Constant => 0,
    }
}

impl Warp {
    pub(crate) fn access(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        operation: &Operation,
        lane: usize,
    ) -> Result<(), FaultKind> {
        match operation {
            Operation::Load { address, kind, targets } => {
                let place = self.place(context, *address, lane);
                let size = kind.bytes() as usize;
                let bytes = self.view(
                    context,
                    shared,
                    place,
                    (size * targets.len()) as u64,
                    lane,
                    Need::Read,
                )?;
                let mut copy = [0; 16];
                copy[..bytes.len()].copy_from_slice(bytes);
                for (element, target) in copy.chunks(size).zip(targets) {
                    if let Some(target) = target {
                        let value = number(element);
                        let signed = kind.is_signed();
                        let value =
                            if signed { sign_extend(value, kind.bits) as u64 } else { value };
                        self.write(*target, lane, value);
                    }
                }
            }
            Operation::Store { address, kind, sources } => {
                let place = self.place(context, *address, lane);
                let size = kind.bytes() as usize;
                let mut values = [0; 4];
                for (value, source) in values.iter_mut().zip(sources) {
                    *value = self.read(context, *source, lane);
                }
                let bytes = self.view(
                    context,
                    shared,
                    place,
                    (size * sources.len()) as u64,
                    lane,
                    Need::Write,
                )?;
                for (element, value) in bytes.chunks_mut(size).zip(values) {
                    element.copy_from_slice(&value.to_le_bytes()[..size]);
                }
            }
            Operation::Atomic { function, address, kind, target, sources } => {
                let old =
                    self.exchange(context, shared, (*function, *kind), *address, *sources, lane)?;
                if let Some(target) = target {
                    self.write(*target, lane, old);
                }
            }
            // `membar` and its kin: all accesses are in order as it is.
            _ => {}
        }
        Ok(())
    }

    fn exchange(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        (function, kind): (AtomicFunction, Type),
        address: MemoryOperand,
        sources: [Operand; 2],
        lane: usize,
    ) -> Result<u64, FaultKind> {
        let place = self.place(context, address, lane);
        let values = sources.map(|source| self.read(context, source, lane));
        let bytes = self.view(context, shared, place, kind.bytes(), lane, Need::Write)?;
        let old = number(bytes);
        // Single-precision sums flush subnormals in global memory alone.
        let flush = place.0 == Space::Global;
        let new = replaced(function, kind, old, values, flush) & mask(kind.bits);
        bytes.copy_from_slice(&new.to_le_bytes()[..bytes.len()]);
        Ok(old)
    }

    /// The space and the address in it; generic addresses are told apart by their window.
    fn place(
        &self,
        context: &BlockContext<'_>,
        address: MemoryOperand,
        lane: usize,
    ) -> (Space, u64) {
        let at = self.read(context, address.base, lane).wrapping_add(address.offset);
        if address.space != Space::Generic {
            return (address.space, at);
        }
        let space = match at >> WINDOW_BITS {
            1 => Space::Shared,
            2 => Space::Local,
            3 => Space::Param,
            _ => Space::Global,
        };
        (space, at.wrapping_sub(window(space)))
    }

    fn view<'v>(
        &'v mut self,
        context: &'v mut BlockContext<'_>,
        shared: &'v mut [u8],
        (space, address): (Space, u64),
        bytes: u64,
        lane: usize,
        need: Need,
    ) -> Result<&'v mut [u8], FaultKind> {
        let inside = |length: u64| address.checked_add(bytes).is_some_and(|end| end <= length);
        let outside = |space| Err(FaultKind::OutOfBounds { space, address, bytes });
        if !address.is_multiple_of(bytes) {
            return Err(FaultKind::Misaligned { address, bytes });
        }
        match space {
            Space::Shared if inside(shared.len() as u64) => {
                Ok(&mut shared[address as usize..(address + bytes) as usize])
            }
            Space::Shared => outside("shared"),
            Space::Local if inside(self.local_bytes) => {
                let start = (lane as u64 * self.local_bytes + address) as usize;
                Ok(&mut self.local[start..start + bytes as usize])
            }
            Space::Local => outside("local"),
            Space::Param if need == Need::Write => Err(FaultKind::ReadOnly { address }),
            Space::Param if inside(context.params.len() as u64) => {
                Ok(&mut context.params[address as usize..(address + bytes) as usize])
            }
            Space::Param => outside("parameter"),
            Space::Constant => context.memory.access(address, bytes, Need::Constant),
            Space::Global | Space::Generic => context.memory.access(address, bytes, need),
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

fn replaced(function: AtomicFunction, kind: Type, old: u64, [a, b]: [u64; 2], flush: bool) -> u64 {
    match function {
        AtomicFunction::Add if kind.is_real() => {
            let flush = flush && real::format(kind) == FloatFormat::SINGLE;
            let rounding = Rounding::Nearest;
            let modifiers =
                RealModifiers { rounding, flush, saturate: false, propagate_nan: false };
            real::evaluate(RealFunction::Add, modifiers, kind, [old, a, 0])
        }
        AtomicFunction::Add => old.wrapping_add(a),
        AtomicFunction::Minimum => {
            if less(kind, a, old) {
                a
            } else {
                old
            }
        }
        AtomicFunction::Maximum => {
            if less(kind, old, a) {
                a
            } else {
                old
            }
        }
        AtomicFunction::Exchange => a,
        AtomicFunction::CompareAndSwap => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicFunction::And => old & a,
        AtomicFunction::Or => old | a,
        AtomicFunction::Xor => old ^ a,
        AtomicFunction::Increment => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        AtomicFunction::Decrement => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
    }
}
