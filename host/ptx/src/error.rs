//! Errors of a module's text, of a launch, and of a running kernel. All of them are the
//! kernel's author's fault or the caller's, never this library's.

use thiserror::Error;

/// A module that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}, at `{text}`")]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// The word or instruction in question.
    pub text: String,
    pub problem: ParseProblem,
}

pub(crate) type ParseResult<T> = Result<T, ParseError>;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseProblem {
    #[error("{0}")]
    Syntax(&'static str),
    /// Valid PTX for all we know, but not of the part that is simulated.
    #[error("not supported: {0}")]
    Unsupported(String),
    #[error("unknown name {0}")]
    Unknown(String),
    #[error("more than {1} {0}")]
    Limit(&'static str, u64),
}

/// A launch that did not start, or that did not end well.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LaunchError {
    #[error("no kernel is called {0}")]
    NoSuchKernel(String),
    #[error("bad arguments: {0}")]
    BadArguments(String),
    #[error("invalid launch: {0}")]
    InvalidLaunch(String),
    /// The budget of lane-instructions is used up: for a real device this would be a time-out.
    #[error("kernel {kernel} used up its budget of steps")]
    BudgetExhausted { kernel: String },
    #[error(transparent)]
    Fault(#[from] Box<KernelFault>),
}

/// The mistake of a thread that ended the launch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel {kernel}, block {block:?}, thread {thread:?}, line {line}: {kind}")]
pub struct KernelFault {
    pub kernel: String,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    /// The line of the PTX, from 1.
    pub line: u32,
    pub kind: FaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FaultKind {
    #[error("access of {bytes} bytes at {address:#x}, outside of {space} memory")]
    OutOfBounds { space: &'static str, address: u64, bytes: u64 },
    #[error("access of {bytes} bytes at {address:#x}, which is not a multiple of that")]
    Misaligned { address: u64, bytes: u64 },
    #[error("write to read-only memory at {address:#x}")]
    ReadOnly { address: u64 },
    #[error("null pointer, address {address:#x}")]
    Null { address: u64 },
    #[error("barrier {barrier} can never be passed: not all of its threads can reach it")]
    BarrierStuck { barrier: u64 },
    #[error("barrier {barrier}: {reason}")]
    BadBarrier { barrier: u64, reason: &'static str },
    #[error("lanes {missing:#010x} of the member mask can never join this instruction")]
    LanesMissing { missing: u32 },
    #[error("the member mask {mask:#010x} lacks the lane itself")]
    BadMemberMask { mask: u32 },
    #[error(
        "a matrix instruction needs all 32 lanes of a warp: lanes {missing:#010x} have returned or never were"
    )]
    WarpIncomplete { missing: u32 },
    #[error("{0}")]
    BadOperand(&'static str),
    #[error("trap")]
    Trap,
}

/// A refusal of the memory's owner.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MemoryError {
    #[error("{wanted} bytes asked for, {left} are left")]
    Full { wanted: u64, left: u64 },
    #[error("{bytes} bytes at {address:#x} are not in one buffer")]
    NotABuffer { address: u64, bytes: u64 },
}
