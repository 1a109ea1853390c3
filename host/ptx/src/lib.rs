//! Runs CUDA kernels where there is no GPU: an interpreter of the PTX that NVRTC writes.
//!
//! [`PtxModule::parse`] checks and decodes a text, [`Memory`] holds buffers at device addresses, and
//! [`launch()`] runs a kernel's grid. All state is the caller's [`Memory`] and [`StepBudget`]; this crate has
//! no I/O, no clock, no threads and no randomness, and never answers a text it does not understand with
//! a number: an instruction, a modifier or a state space that is not simulated is an error that names
//! it, at [`PtxModule::parse`].
//!
//! **What is simulated.** Blocks run one after the other. The warps of a block take turns in order; in a
//! warp the lanes with the lowest program counter run in lockstep, and come together where their
//! counters meet. Barriers count threads; threads that have returned are not waited for. Every access is
//! checked for its bounds and its natural alignment, against a single buffer. Arithmetic with a stated
//! rounding is exact; approximate instructions are closer to the true value than a device's (see
//! `real`), by the platform's mathematical functions. Integer quotients by zero, which PTX leaves open,
//! have all bits set. A lane that shuffles from one that is no participant gets all bits set.
//! Shared and local memory hold bytes of 0xff before they are written (which is NaN in every float), and
//! registers hold zero. Products of matrices are rounded once (see `matrix`), and copies by `cp.async` are done when
//! they are waited for, not before. Printed text is kept in the [`Memory`] up to a limit. A register or a local
//! variable of an inner scope, or of a called function, begins with what an earlier one left.
//!
//! **What is not.** Weak memory: every access is seen by all at once, and a race has one outcome of its
//! many. Forward progress of a lane that waits for another lane of its warp, and of a block that waits
//! for another block: both end with the budget. Also without: `wgmma`, sparse products and those of numbers
//! narrower than a byte, TMA and bulk copies, `mbarrier`, clusters, grids that synchronise, textures, carries, cache
//! policies as operands, `clock`, calls by pointer, recursion, `malloc` on the device. There is no timing: a count
//! of lane-instructions is not a duration.

pub mod error;
pub mod limits;

mod declaration;
mod syntax;
mod token;

mod emit;
mod fragment;
mod opcode;
mod operand;
mod program;

mod convert;
mod float;
mod integer;
mod narrow;
mod real;

mod entries;
pub mod launch;
pub mod memory;
pub mod module;

pub use entries::{PtxEntry, entries};
pub use error::{FaultKind, KernelFault, LaunchError, MemoryError, ParseError, ParseProblem};
pub use launch::{GridLaunch, LaunchArg, Stats, StepBudget, launch};
pub use memory::{LoadedModule, Memory};
pub use module::{PtxKernelInfo, PtxModule, PtxParam};
