//! The interface of a device for the executor that drives it. There are two: a GPU with its driver (`cuda`) and the
//! interpreter of PTX (`simulated`).
//!
//! A device knows addresses, not buffers: what lies where, guards and roles are the executor's. All work
//! is done in order; a call may return before it is, and [`Device::finish`] waits for it.

use serde::{Deserialize, Serialize};

use crate::types::{Dim3, ElementType, KernelInfo};

/// A device, for plugins and operators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// The name, such as `NVIDIA H100`.
    pub name: String,
    /// The number that no other GPU has, as the driver says it; of a part of a GPU (MIG), the part's. Empty on a simulated device.
    pub uuid: String,
    /// `sm_90`; `compute_90` on a simulated device, which takes PTX alone.
    pub arch: String,
    /// The version of the driver.
    pub driver: String,
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// The clock of the multiprocessors, in kHz.
    pub clock_khz: u32,
    /// The memory of the device, in bytes.
    pub memory_bytes: u64,
    /// The second-level cache, in bytes.
    pub l2_bytes: u64,
    /// The most shared memory of a block, in bytes.
    pub shared_bytes_max: u32,
    /// The bandwidth of the memory by its clock and width, in bytes a second; 0 if it is not known.
    pub peak_bytes_per_s: u64,
    /// Whether kernels reach the memory of the process that launches them by its own addresses (HMM): a hostile one can
    /// then change what that process does.
    pub reaches_host_memory: bool,
    /// Whether it is the interpreter.
    pub simulated: bool,
}

/// Why a device did not do what it was told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum DeviceProblem {
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
    /// More memory, modules or launches than allowed.
    #[error("beyond a limit: {0}")]
    Limit(String),
    /// The simulation does not have the instruction.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// After this and what follows the device is of no use: its process must end.
    #[error("illegal address: {0}")]
    IllegalAddress(String),
    /// A kernel used an address that is not aligned.
    #[error("misaligned address: {0}")]
    MisalignedAddress(String),
    /// A kernel ran an instruction that the device does not have.
    #[error("illegal instruction: {0}")]
    IllegalInstruction(String),
    /// A kernel ended itself: a trap or a failed assertion.
    #[error("trapped: {0}")]
    Trapped(String),
    /// A kernel failed in another way.
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
    /// Zeros.
    Zeros,
    /// Numbers from an interval, all equally likely.
    Uniform {
        /// The least value.
        low: f64,
        /// The bound, which is not reached but for rounding.
        high: f64,
    },
    /// Sums of eight uniform numbers.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// Whole numbers, all equally likely.
    Integers {
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
    },
    /// The numbers from 0 to `count - 1`, each once.
    Permutation,
    /// Random bits; NaN in floats.
    Poison,
    /// Random bytes round a buffer.
    Guard,
}

/// Elements made from their number, a seed and a stream: a buffer's own, so that no two are alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    /// The type of the elements.
    pub dtype: ElementType,
    /// The number of elements.
    pub count: u64,
    /// The rule.
    pub rule: FillRule,
    /// The seed of the run.
    pub seed: u64,
    /// The stream of random numbers; another one for each buffer.
    pub stream: u32,
}

/// The difference that is allowed: `|got - want| <= absolute + relative * |want|`. Integers must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BufferTolerance {
    /// The absolute part.
    pub absolute: f64,
    /// The part relative to the wanted value.
    pub relative: f64,
    /// The least share of elements that must be within the tolerance.
    pub matched_ratio: f64,
    /// Whether NaN and infinities may equal those of the reference.
    pub allow_nonfinite: bool,
}

/// The difference of two buffers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BufferComparison {
    /// Whether the difference is allowed.
    pub ok: bool,
    /// The elements outside the tolerance.
    pub mismatched: u64,
    /// The greatest absolute difference.
    pub absolute_max: f64,
    /// The greatest relative difference.
    pub relative_max: f64,
    /// The elements that are NaN or infinite.
    pub got_nonfinite: u64,
    /// The wrong elements that still hold the poison.
    pub never_written: u64,
    /// The index of the first wrong element.
    pub first_wrong: Option<u64>,
    /// The value at `first_wrong`.
    pub got_there: f64,
    /// The wanted value at `first_wrong`.
    pub want_there: f64,
}

/// Two buffers of one device; `poison` is what the first held before it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The address of the candidate's buffer.
    pub got: u64,
    /// The address of the reference's buffer.
    pub want: u64,
    /// The content of the candidate's buffer before the run.
    pub poison: Fill,
    /// The allowed difference.
    pub tolerance: BufferTolerance,
}

/// An allocation as the driver names it to other processes of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedHandle(pub serde_bytes::ByteBuf);

/// A launch whose arguments are bytes: buffers have become addresses.
#[derive(Debug, Clone, PartialEq)]
pub struct RawLaunch {
    /// The name of the kernel.
    pub kernel: String,
    /// The blocks of the grid.
    pub grid: Dim3,
    /// The threads of a block.
    pub block: Dim3,
    /// Whether all blocks run at once and may wait for each other.
    pub cooperative: bool,
    /// The shared memory of a block beyond its static part, in bytes.
    pub dynamic_shared_bytes: u32,
    /// The bytes of each argument.
    pub args: Vec<Vec<u8>>,
}

/// A device. Addresses are the device's; sizes are in bytes.
pub trait Device {
    /// The properties, which never change.
    fn properties(&self) -> &Properties;

    /// Modules are numbered from 0, in order.
    fn load(&mut self, image: &[u8]) -> Result<u32, DeviceProblem>;

    /// The kernels of a module.
    fn kernels(&mut self, module: u32) -> Result<Vec<KernelInfo>, DeviceProblem>;

    /// Allocates bytes, aligned to 256 bytes at least; their content is arbitrary.
    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceProblem>;

    /// Gives up all memory and modules. No later allocation shows what was in that memory.
    fn reset(&mut self) -> Result<(), DeviceProblem>;

    /// Copies bytes to the device.
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), DeviceProblem>;

    /// Copies bytes from the device.
    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), DeviceProblem>;

    /// Sets each of so many bytes to a value.
    fn set(&mut self, at: u64, bytes: u64, value: u8) -> Result<(), DeviceProblem>;

    /// Copies bytes within the device.
    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), DeviceProblem>;

    /// A name of an allocation, given by its address, for other processes. `None` where the device has no such names.
    fn share(&mut self, _allocation: u64) -> Option<SharedHandle> {
        None
    }

    /// Copies bytes of another process's allocation to this one's memory.
    fn copy_shared(
        &mut self,
        _to: u64,
        _from: &SharedHandle,
        _offset: u64,
        _bytes: u64,
    ) -> Result<(), DeviceProblem> {
        Err(DeviceProblem::Failed("this device shares no memory".into()))
    }

    /// Writes the elements of a fill.
    fn fill(&mut self, at: u64, fill: &Fill) -> Result<(), DeviceProblem>;

    /// Compares two buffers element by element.
    fn compare(&mut self, compared: &Compared) -> Result<BufferComparison, DeviceProblem>;

    /// Whether so many bytes are the same.
    fn equal(&mut self, one: u64, other: u64, bytes: u64) -> Result<bool, DeviceProblem>;

    /// Launches a kernel of a module.
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

/// The use of a buffer by a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferRole {
    /// Made again before every run; must be unchanged after it.
    Input,
    /// Poisoned before every run.
    Output,
    /// Made again as an input, and compared as an output.
    Inout,
    /// Poisoned, and never compared.
    Scratch,
}

/// The content of an input before a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum BufferInit {
    /// Zeros.
    Zeros,
    /// Numbers from an interval, all equally likely.
    Uniform {
        /// The least value.
        low: f64,
        /// The bound, which is not reached but for rounding.
        high: f64,
    },
    /// Sums of eight uniform numbers.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// Whole numbers, all equally likely.
    Integers {
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
    },
    /// The numbers from 0 to `count - 1`, each once.
    Permutation,
    /// The bytes that were uploaded last.
    Uploaded,
}

/// A buffer of a session.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BufferSpec {
    /// The type of the elements.
    pub dtype: ElementType,
    /// The number of elements.
    pub count: u64,
    /// Its use by the plan.
    pub role: BufferRole,
    /// Its content before a run; ignored for outputs and scratch.
    pub init: BufferInit,
}

/// A buffer of the candidate and the reference's buffer that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The number of the candidate's buffer.
    pub got: u32,
    /// The number of the reference's buffer.
    pub want: u32,
    /// The allowed difference.
    pub tolerance: BufferTolerance,
}
