//! The arguments and results of a session, as in `assay:gpu/device`, which explains each of them.

use crate::device::BufferComparison;

/// The limits of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// The memory of all buffers, in bytes.
    pub memory_bytes: u64,
    /// On a simulated device a millisecond is so many steps (`GPU_SIMULATED_STEPS_PER_MS`), so that no
    /// verdict depends on the machine's speed.
    pub plan_ms: u32,
    /// The time limit of loading and running the candidate's code, in milliseconds.
    pub total_ms: u32,
    /// The most steps of a plan.
    pub steps_max: u32,
    /// The bytes that are kept of what kernels print.
    pub printed_bytes: u32,
}

/// The author of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The candidate; its code runs in a process that never holds the judge's data.
    Candidate,
    /// The task.
    Trusted,
}

/// The comparison of a run with the reference's run.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// The seed of the buffers.
    pub seed: u64,
    /// A comparison for each pair.
    pub outputs: Vec<BufferComparison>,
    /// The numbers of inputs that the candidate changed.
    pub inputs_changed: Vec<u32>,
    /// The numbers of buffers with writes just before or after them.
    pub overrun: Vec<u32>,
    /// 0 on a simulated device: what it took is not the kernel's doing, and a replay must not differ.
    pub elapsed_ns: u64,
}

/// The options of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasureOptions {
    /// The runs before the first trial.
    pub warm_ups: u32,
    /// The least number of trials.
    pub trials: u32,
    /// The standard error of the mean at which sampling may stop, relative to the mean. Zero: stop after `trials`.
    pub relative_error: f64,
    /// The time limit of the measurement, in milliseconds.
    pub budget_ms: u32,
    /// Whether the caches are emptied before each trial.
    pub flush_l2: bool,
    /// The trials, chosen secretly, that are checked as well.
    pub spot_checks: u32,
}

/// The times of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The time of each trial, in nanoseconds.
    pub samples_ns: Vec<u64>,
    /// The median of the samples, in nanoseconds.
    pub median_ns: u64,
    /// The time of an empty plan, which each sample contains, in nanoseconds.
    pub overhead_ns: u64,
    /// The median by the host's clock less that of an empty plan, in nanoseconds.
    pub wall_median_ns: u64,
    /// The clock of the multiprocessors, in kHz.
    pub clock_khz: u32,
}

/// The times of the candidate's and the reference's plans.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The candidate's; `None` on a simulated device.
    pub candidate: Option<Timing>,
    /// The reference's; `None` on a simulated device, and where the candidate was timed alone.
    pub reference: Option<Timing>,
    /// The checks of trials.
    pub spot: Vec<CheckReport>,
    /// The reasons why the times may be wrong; empty when there is none.
    pub suspicious: Vec<String>,
}

/// A failed call of a session. Only `Cancelled` and `Unavailable` are not the fault of plugin or kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The plugin's call is malformed.
    #[error("bad request: {0}")]
    BadRequest(String),
    /// The driver does not load the image.
    #[error("the image is rejected: {0}")]
    ImageRejected(String),
    /// The module has no kernel of this name.
    #[error("no such kernel: {0}")]
    NoSuchKernel(String),
    /// The arguments do not fit the kernel.
    #[error("bad arguments: {0}")]
    BadArguments(String),
    /// The device cannot launch it in this shape.
    #[error("invalid launch: {0}")]
    InvalidLaunch(String),
    /// More than a limit of the session.
    #[error("beyond a limit: {0}")]
    Limit(String),
    /// The simulation does not have the instruction.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// A kernel used an address outside its buffers; the session is over.
    #[error("illegal address: {0}")]
    IllegalAddress(String),
    /// A kernel used an address that is not aligned; the session is over.
    #[error("misaligned address: {0}")]
    MisalignedAddress(String),
    /// A kernel ran an instruction that the device does not have; the session is over.
    #[error("illegal instruction: {0}")]
    IllegalInstruction(String),
    /// A kernel ended itself; the session is over.
    #[error("trapped: {0}")]
    Trapped(String),
    /// A kernel failed in another way; the session is over.
    #[error("the launch failed: {0}")]
    LaunchFailed(String),
    /// A plan took too long, in milliseconds; the session is over.
    #[error("timed out after {0} ms")]
    TimedOut(u64),
    /// The stage's time is over.
    #[error("the stage's time is over")]
    Cancelled,
    /// The device cannot be used now.
    #[error("unavailable: {0}")]
    Unavailable(String),
}
