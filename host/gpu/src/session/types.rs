//! The arguments and results of a session, as in `assay:gpu/device`, which explains each of them.

use serde::{Deserialize, Serialize};

use crate::device::{BufferComparison, BufferTolerance};
use crate::types::ElementType;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    pub memory_bytes: u64,
    /// On a simulated device a millisecond is so many steps (`GPU_SIMULATED_STEPS_PER_MS`), so that no
    /// verdict depends on the machine's speed.
    pub plan_ms: u32,
    /// The time limit of everything on the candidate's side, in milliseconds.
    pub total_ms: u32,
    pub steps_max: u32,
    pub printed_bytes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Candidate,
    Trusted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferRole {
    Input,
    Output,
    Inout,
    Scratch,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum BufferInit {
    Zeros,
    Uniform { low: f64, high: f64 },
    Normal { mean: f64, deviation: f64 },
    Integers { low: i64, high: i64 },
    Permutation,
    Uploaded,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BufferSpec {
    pub dtype: ElementType,
    pub count: u64,
    pub role: BufferRole,
    pub init: BufferInit,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub got: u32,
    pub want: u32,
    pub tolerance: BufferTolerance,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    pub seed: u64,
    pub outputs: Vec<BufferComparison>,
    pub inputs_changed: Vec<u32>,
    pub overrun: Vec<u32>,
    /// 0 on a simulated device: what it took is not the kernel's doing, and a replay must not differ.
    pub elapsed_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasureOptions {
    pub warm_ups: u32,
    pub trials: u32,
    /// The standard error of the mean at which sampling may stop, relative to the mean. Zero: stop after `trials`.
    pub relative_error: f64,
    pub budget_ms: u32,
    pub flush_l2: bool,
    pub spot_checks: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    pub samples_ns: Vec<u64>,
    pub median_ns: u64,
    pub overhead_ns: u64,
    pub wall_median_ns: u64,
    pub clock_khz: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    pub candidate: Option<Timing>,
    pub reference: Option<Timing>,
    pub spot: Vec<CheckReport>,
    pub suspicious: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    #[error("bad request: {0}")]
    BadRequest(String),
    #[error("the image is rejected: {0}")]
    ImageRejected(String),
    #[error("no such kernel: {0}")]
    NoSuchKernel(String),
    #[error("bad arguments: {0}")]
    BadArguments(String),
    #[error("invalid launch: {0}")]
    InvalidLaunch(String),
    #[error("beyond a limit: {0}")]
    Limit(String),
    #[error("unsupported: {0}")]
    Unsupported(String),
    #[error("illegal address: {0}")]
    IllegalAddress(String),
    #[error("misaligned address: {0}")]
    MisalignedAddress(String),
    #[error("illegal instruction: {0}")]
    IllegalInstruction(String),
    #[error("trapped: {0}")]
    Trapped(String),
    #[error("the launch failed: {0}")]
    LaunchFailed(String),
    #[error("timed out after {0} ms")]
    TimedOut(u64),
    #[error("the stage's time is over")]
    Cancelled,
    #[error("unavailable: {0}")]
    Unavailable(String),
}
