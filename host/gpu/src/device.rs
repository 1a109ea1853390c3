//! The interface of a device for the executor that drives it. There are two: a GPU with its driver (`cuda`) and the
//! interpreter of PTX (`simulated`).
//!
//! A device knows addresses, not buffers: what lies where, guards and roles are the executor's. All work
//! is done in order; a call may return before it is, and [`Device::finish`] waits for it.

use serde::{Deserialize, Serialize};

use crate::types::{Dim3, ElementType, KernelInfo};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    pub name: String,
    pub arch: String,
    pub driver: String,
    pub multiprocessors: u32,
    pub clock_khz: u32,
    pub memory_bytes: u64,
    pub l2_bytes: u64,
    pub shared_bytes_max: u32,
    pub peak_bytes_per_s: u64,
    pub simulated: bool,
}

/// Why a device did not do what it was told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum DeviceProblem {
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
    /// After this and what follows the device is of no use: its process must end.
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
    /// The budget of a simulated kernel.
    #[error("the kernel used up its time")]
    TimedOut,
    /// Nobody's kernel did it.
    #[error("the device failed: {0}")]
    Failed(String),
}

/// The rule for the elements of a fill (`fill`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum FillRule {
    Zeros,
    Uniform {
        low: f64,
        high: f64,
    },
    Normal {
        mean: f64,
        deviation: f64,
    },
    Integers {
        low: i64,
        high: i64,
    },
    Permutation,
    /// Random bits; NaN in floats.
    Poison,
    /// Random bytes round a buffer.
    Guard,
}

/// Elements made from their number, a seed and a stream: a buffer's own, so that no two are alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    pub dtype: ElementType,
    pub count: u64,
    pub rule: FillRule,
    pub seed: u64,
    pub stream: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BufferTolerance {
    pub absolute: f64,
    pub relative: f64,
    pub matched_ratio: f64,
    pub allow_nonfinite: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BufferComparison {
    pub ok: bool,
    pub mismatched: u64,
    pub absolute_max: f64,
    pub relative_max: f64,
    pub got_nonfinite: u64,
    pub never_written: u64,
    pub first_wrong: Option<u64>,
    pub got_there: f64,
    pub want_there: f64,
}

/// Two buffers of one device; `poison` is what the first held before it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    pub got: u64,
    pub want: u64,
    pub poison: Fill,
    pub tolerance: BufferTolerance,
}

/// A launch whose arguments are bytes: buffers have become addresses.
#[derive(Debug, Clone, PartialEq)]
pub struct RawLaunch {
    pub kernel: String,
    pub grid: Dim3,
    pub block: Dim3,
    pub cooperative: bool,
    pub dynamic_shared_bytes: u32,
    pub args: Vec<Vec<u8>>,
}

pub trait Device {
    fn properties(&self) -> &Properties;

    /// Modules are numbered from 0, in order.
    fn load(&mut self, image: &[u8]) -> Result<u32, DeviceProblem>;

    fn kernels(&mut self, module: u32) -> Result<Vec<KernelInfo>, DeviceProblem>;

    /// At least 256-byte aligned. What it holds is anybody's.
    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceProblem>;

    /// Gives up all memory and modules.
    fn reset(&mut self) -> Result<(), DeviceProblem>;

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), DeviceProblem>;

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), DeviceProblem>;

    fn set(&mut self, at: u64, bytes: u64, value: u8) -> Result<(), DeviceProblem>;

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), DeviceProblem>;

    fn fill(&mut self, at: u64, fill: &Fill) -> Result<(), DeviceProblem>;

    fn compare(&mut self, compared: &Compared) -> Result<BufferComparison, DeviceProblem>;

    /// Whether so many bytes are the same.
    fn equal(&mut self, one: u64, other: u64, bytes: u64) -> Result<bool, DeviceProblem>;

    fn launch(&mut self, module: u32, launch: &RawLaunch) -> Result<(), DeviceProblem>;

    /// Waits until all is done; the first thing that went wrong since the last time.
    fn finish(&mut self) -> Result<(), DeviceProblem>;

    /// Sets the number of lane-instructions that may run until the next call. It is the time limit of a
    /// simulated device, which has no clock.
    fn allow(&mut self, steps: u64);

    /// The lane-instructions that may still run.
    fn allowed(&self) -> u64 {
        u64::MAX
    }

    /// Empties the caches as far as can be.
    fn flush(&mut self) -> Result<(), DeviceProblem>;

    /// Marks where a timed part begins.
    fn begin(&mut self) -> Result<(), DeviceProblem>;

    /// Marks its end and waits for it: the nanoseconds between, by the device's own clock. `None` where
    /// there is no such clock.
    fn end(&mut self) -> Result<Option<u64>, DeviceProblem>;
}
