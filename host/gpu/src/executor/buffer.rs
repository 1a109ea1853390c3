//! Where a buffer lies: between two guards, on the device and in the exchange alike.
//!
//! ```text
//! start            data                 end          start + bytes
//! | guard, 4 KiB   | elements           | guard, 4 KiB at least |
//! ```
//!
//! The guard behind begins with the first byte after the last element, so that not even one element can
//! be written beyond it unseen.

use crate::device::{Fill, Problem, Rule};
use crate::fill;
use crate::session::{BufferSpec, Init, Role};
use crate::types::Dtype;

/// Bytes of a guard, and what each buffer is rounded up to.
pub(crate) const GUARD_BYTES: u64 = 4_096;
/// A guard's element.
const WORD_BYTES: u64 = 4;
/// The stream of the guard behind a buffer: no buffer has such a number.
const BEHIND: u32 = 1 << 31;
/// Of what no buffer ever held.
const NEVER: u32 = 1 << 30;

#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) number: u32,
    pub(crate) spec: BufferSpec,
    /// On the device.
    pub(crate) start: u64,
    /// In the exchange.
    pub(crate) exchange: u64,
    /// What `upload` wrote, if `init` asks for it.
    pub(crate) uploaded: Vec<u8>,
}

/// One part of a buffer and what is put there.
pub(crate) struct Part {
    /// From the buffer's start.
    pub(crate) from: u64,
    pub(crate) fill: Fill,
}

impl Buffer {
    pub(crate) fn data_bytes(&self) -> u64 {
        self.spec.count * self.spec.dtype.bytes()
    }

    pub(crate) fn bytes(&self) -> u64 {
        bytes(&self.spec)
    }

    pub(crate) fn data(&self) -> u64 {
        self.start + GUARD_BYTES
    }

    /// The two guards, of which the second begins up to a word early: the data comes over it.
    pub(crate) fn guards(&self, seed: u64) -> [Part; 2] {
        let end = GUARD_BYTES + self.data_bytes();
        let behind = end - end % WORD_BYTES;
        let guard = |from: u64, to: u64, stream: u32| {
            let count = (to - from) / WORD_BYTES;
            Part { from, fill: Fill { dtype: Dtype::Ui32, count, rule: Rule::Guard, seed, stream } }
        };
        [guard(0, GUARD_BYTES, self.number), guard(behind, self.bytes(), self.number | BEHIND)]
    }

    /// What the data is made of before a run; `None`: what was uploaded.
    pub(crate) fn content(&self, seed: u64) -> Option<Fill> {
        let rule = match (self.spec.role, self.spec.init) {
            (Role::Output | Role::Scratch, _) => Rule::Poison,
            (Role::Input | Role::Inout, init) => rule(init)?,
        };
        Some(self.fill(rule, seed, self.number))
    }

    /// What an element holds that was never written.
    pub(crate) fn poison(&self, seed: u64) -> Fill {
        let unknown = || self.fill(Rule::Poison, seed, self.number | NEVER);
        self.content(seed).unwrap_or_else(unknown)
    }

    fn fill(&self, rule: Rule, seed: u64, stream: u32) -> Fill {
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
pub(crate) fn rule(init: Init) -> Option<Rule> {
    Some(match init {
        Init::Zeros => Rule::Zeros,
        Init::Uniform { low, high } => Rule::Uniform { low, high },
        Init::Normal { mean, deviation } => Rule::Normal { mean, deviation },
        Init::Integers { low, high } => Rule::Integers { low, high },
        Init::Permutation => Rule::Permutation,
        Init::Uploaded => return None,
    })
}

/// What a buffer takes, with its guards.
pub(crate) fn bytes(spec: &BufferSpec) -> u64 {
    let data = spec.count * spec.dtype.bytes();
    data.next_multiple_of(GUARD_BYTES) + 2 * GUARD_BYTES
}

/// A bug of ours: the worker's side has checked what it sends.
pub(crate) fn unknown(what: &str, number: u32) -> Problem {
    Problem::Failed(format!("there is no {what} {number}"))
}
