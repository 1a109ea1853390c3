//! Loads, stores and atomic operations of one lane, in whatever memory the address lies in.

use crate::error::FaultKind;
use crate::float::{FloatFormat, Rounding};
use crate::integer::less;
use crate::launch::block::BlockContext;
use crate::launch::warp::{Warp, lanes};
use crate::memory::{Need, RegionExtent};
use crate::operand::{
    MemoryOperand, Operand, RealModifiers, Register, Space, Type, mask, sign_extend,
};
use crate::program::{AtomicFunction, Operation};
use crate::real::{self, RealFunction};

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
    pub(crate) fn load(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        address: MemoryOperand,
        kind: Type,
        targets: &[Option<Register>],
        run: u32,
    ) -> Result<(), (usize, FaultKind)> {
        let size = kind.bytes() as usize;
        let bytes = (size * targets.len()) as u64;
        let bases = self.gather(context, address.base);
        let mut recent = None;
        for lane in lanes(run) {
            let place = generic(address.space, bases[lane].wrapping_add(address.offset));
            let mut copy = [0; 16];
            let found = recently(context, &mut recent, place, bytes, Need::Read);
            let found = match found {
                Some(found) => found,
                None => self
                    .view(context, shared, place, bytes, lane, Need::Read)
                    .map_err(|kind| (lane, kind))?,
            };
            copy[..found.len()].copy_from_slice(found);
            for (element, target) in copy.chunks_exact(size).zip(targets) {
                if let Some(target) = target {
                    let value = number(element);
                    let signed = kind.is_signed();
                    let value = if signed { sign_extend(value, kind.bits) as u64 } else { value };
                    self.write(*target, lane, value);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn store(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        address: MemoryOperand,
        kind: Type,
        sources: &[Operand],
        run: u32,
    ) -> Result<(), (usize, FaultKind)> {
        let size = kind.bytes() as usize;
        let bytes = (size * sources.len()) as u64;
        let bases = self.gather(context, address.base);
        let mut recent = None;
        for lane in lanes(run) {
            let place = generic(address.space, bases[lane].wrapping_add(address.offset));
            let mut copy = [0; 16];
            for (element, source) in copy.chunks_exact_mut(size).zip(sources) {
                let value = self.read(context, *source, lane);
                element.copy_from_slice(&value.to_le_bytes()[..size]);
            }
            let found = recently(context, &mut recent, place, bytes, Need::Write);
            let found = match found {
                Some(found) => found,
                None => self
                    .view(context, shared, place, bytes, lane, Need::Write)
                    .map_err(|kind| (lane, kind))?,
            };
            let length = found.len();
            found.copy_from_slice(&copy[..length]);
        }
        Ok(())
    }

    /// An atomic operation or a copy.
    pub(crate) fn access(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        operation: &Operation,
        lane: usize,
    ) -> Result<(), FaultKind> {
        match operation {
            Operation::CopyAsync(copy) => self.copy_async(context, shared, copy, lane)?,
            Operation::Atomic { function, address, kind, target, sources } => {
                let old =
                    self.exchange(context, shared, (*function, *kind), *address, *sources, lane)?;
                if let Some(target) = target {
                    self.write(*target, lane, old);
                }
            }
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
        let new = replaced(function, kind, old, values, flush) & mask(kind.width());
        bytes.copy_from_slice(&new.to_le_bytes()[..bytes.len()]);
        Ok(old)
    }

    pub(crate) fn place(
        &self,
        context: &BlockContext<'_>,
        address: MemoryOperand,
        lane: usize,
    ) -> (Space, u64) {
        let at = self.read(context, address.base, lane).wrapping_add(address.offset);
        generic(address.space, at)
    }

    pub(crate) fn view<'v>(
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
        // Accesses have 1, 2, 4, 8 or 16 bytes.
        if address & (bytes - 1) != 0 {
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

/// The space and the address in it; generic addresses are told apart by their window.
fn generic(space: Space, at: u64) -> (Space, u64) {
    if space != Space::Generic {
        return (space, at);
    }
    let space = space_of(at);
    (space, at.wrapping_sub(window(space)))
}

/// The space that a generic address lies in.
pub fn space_of(address: u64) -> Space {
    match address >> WINDOW_BITS {
        1 => Space::Shared,
        2 => Space::Local,
        3 => Space::Param,
        _ => Space::Global,
    }
}

/// The bytes of an access to global memory that lies in the region of the one before and is aligned.
fn recently<'v>(
    context: &'v mut BlockContext<'_>,
    recent: &mut Option<RegionExtent>,
    (space, address): (Space, u64),
    bytes: u64,
    need: Need,
) -> Option<&'v mut [u8]> {
    if space != Space::Global || address & (bytes - 1) != 0 {
        return None;
    }
    let inside = |region: &RegionExtent| {
        let start = address.wrapping_sub(region.base);
        start < region.bytes && region.bytes - start >= bytes
    };
    if !recent.as_ref().is_some_and(inside) {
        *recent = context.memory.region(address, need).filter(inside);
    }
    let region = (*recent)?;
    let start = (address - region.base) as usize;
    Some(&mut context.memory.region_bytes(region)[start..start + bytes as usize])
}

pub fn number(bytes: &[u8]) -> u64 {
    if let Ok(word) = <[u8; 4]>::try_from(bytes) {
        return u64::from(u32::from_le_bytes(word));
    }
    bytes.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

pub fn replaced(
    function: AtomicFunction,
    kind: Type,
    old: u64,
    [a, b]: [u64; 2],
    flush: bool,
) -> u64 {
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
