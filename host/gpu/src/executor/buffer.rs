//! The layout of a buffer: between two guards, on the device and in the exchange alike.
//!
//! ```text
//! start            data                 end          start + bytes
//! | guard, 4 KiB   | elements           | guard, 4 KiB at least |
//! ```
//!
//! The guard after the buffer begins with the first byte after the last element, so that not even one element
//! can be written beyond it unseen.

use crate::device::{BufferInit, BufferRole, BufferSpec};
use crate::device::{DeviceProblem, Fill, FillRule};
use crate::fill;
use crate::types::ElementType;

/// Bytes of a guard, and what each buffer is rounded up to.
pub(crate) const GUARD_BYTES: u64 = 4_096;
/// A guard's element.
const WORD_BYTES: u64 = 4;
/// The stream of the guard after a buffer; no buffer has such a number.
const BEHIND: u32 = 1 << 31;
/// The stream of the poison: values that no buffer contains otherwise.
const NEVER: u32 = 1 << 30;

#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    pub(crate) number: u32,
    pub(crate) spec: BufferSpec,
    /// The address on the device.
    pub(crate) start: u64,
    /// The offset in the exchange, in bytes.
    pub(crate) exchange: u64,
    /// The bytes that `upload` wrote, if `init` asks for them.
    pub(crate) uploaded: Vec<u8>,
}

/// A range of a buffer and its fill.
pub(crate) struct FilledRange {
    /// The offset from the buffer's start, in bytes.
    pub(crate) from: u64,
    pub(crate) fill: Fill,
}

impl DeviceBuffer {
    pub(crate) fn data_bytes(&self) -> u64 {
        self.spec.count * self.spec.dtype.bytes()
    }

    pub(crate) fn bytes(&self) -> u64 {
        bytes(&self.spec).expect("it was allocated")
    }

    pub(crate) fn data(&self) -> u64 {
        self.start + GUARD_BYTES
    }

    /// The two guards, of which the second begins up to a word early: the data comes over it.
    pub(crate) fn guards(&self, seed: u64) -> [FilledRange; 2] {
        let end = GUARD_BYTES + self.data_bytes();
        let behind = end - end % WORD_BYTES;
        let guard = |from: u64, to: u64, stream: u32| {
            let count = (to - from) / WORD_BYTES;
            FilledRange {
                from,
                fill: Fill { dtype: ElementType::Ui32, count, rule: FillRule::Guard, seed, stream },
            }
        };
        [guard(0, GUARD_BYTES, self.number), guard(behind, self.bytes(), self.number | BEHIND)]
    }

    /// The fill of the data before a run; `None` if it is uploaded.
    pub(crate) fn content(&self, seed: u64) -> Option<Fill> {
        let rule = match (self.spec.role, self.spec.init) {
            (BufferRole::Output | BufferRole::Scratch, _) => FillRule::Poison,
            (BufferRole::Input | BufferRole::Inout, init) => rule(init)?,
        };
        Some(self.fill(rule, seed, self.number))
    }

    /// The value of an element that was never written.
    pub(crate) fn poison(&self, seed: u64) -> Fill {
        let unknown = || self.fill(FillRule::Poison, seed, self.number | NEVER);
        self.content(seed).unwrap_or_else(unknown)
    }

    fn fill(&self, rule: FillRule, seed: u64, stream: u32) -> Fill {
        Fill { dtype: self.spec.dtype, count: self.spec.count, rule, seed, stream }
    }

    /// Whether what stands around the elements is as it was made.
    pub(crate) fn guards_are_whole(&self, seed: u64, before: &[u8], behind: &[u8]) -> bool {
        let [first, second] = self.guards(seed).map(|part| {
            let mut bytes = vec![0; (part.fill.count * WORD_BYTES) as usize];
            fill::fill(&part.fill, &mut bytes);
            bytes
        });
        let early = second.len() - behind.len();
        before == first && behind == &second[early..]
    }
}

/// How a buffer is made from a seed; `None` where it is not.
pub(crate) fn rule(init: BufferInit) -> Option<FillRule> {
    Some(match init {
        BufferInit::Zeros => FillRule::Zeros,
        BufferInit::Uniform { low, high } => FillRule::Uniform { low, high },
        BufferInit::Normal { mean, deviation } => FillRule::Normal { mean, deviation },
        BufferInit::Integers { low, high } => FillRule::Integers { low, high },
        BufferInit::Permutation => FillRule::Permutation,
        BufferInit::Uploaded => return None,
    })
}

/// The size of a buffer with its guards, in bytes; `None` if no machine has so many.
pub(crate) fn bytes(spec: &BufferSpec) -> Option<u64> {
    let data = spec.count.checked_mul(spec.dtype.bytes())?;
    data.checked_next_multiple_of(GUARD_BYTES)?.checked_add(2 * GUARD_BYTES)
}

/// The size of buffers together, in bytes; an error if it is more than `most`. `place` is where they are.
pub(crate) fn bytes_within<'a>(
    specs: impl Iterator<Item = &'a BufferSpec>,
    most: u64,
    place: &str,
) -> Result<u64, DeviceProblem> {
    let mut sizes = specs.map(bytes);
    let total = sizes.try_fold(0_u64, |total, size| total.checked_add(size?));
    let too_many = || DeviceProblem::Limit(format!("buffers of more than {most} bytes {place}"));
    total.filter(|total| *total <= most).ok_or_else(too_many)
}

/// A bug of ours: the worker's side has checked what it sends.
pub(crate) fn unknown(what: &str, number: u32) -> DeviceProblem {
    DeviceProblem::Failed(format!("there is no {what} {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_added_up_within_a_limit() {
        let spec = |count| BufferSpec {
            dtype: ElementType::Fp32,
            count,
            role: BufferRole::Output,
            init: BufferInit::Zeros,
        };
        let within = |counts: &[u64], most| {
            let specs: Vec<_> = counts.iter().map(|count| spec(*count)).collect();
            bytes_within(specs.iter(), most, "here").ok()
        };
        assert_eq!(within(&[1, 1_024], u64::MAX), Some(6 * GUARD_BYTES));
        assert_eq!(within(&[1, 1_024], 6 * GUARD_BYTES - 1), None);
        // They would seem small.
        assert_eq!(within(&[(1 << 62) + 1], u64::MAX), None);
        assert_eq!(within(&[1 << 61; 2], u64::MAX), None);
        assert_eq!(within(&[u64::MAX / 4], u64::MAX), None);
    }
}
