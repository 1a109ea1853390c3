//! The driver's result codes, and whose fault each is.
//!
//! A kernel's own errors become the kernel's; whatever is not known to be one is [`DeviceProblem::Failed`], so
//! that no kernel is blamed for the machine.

use cudarc::driver::sys::CUresult;

use crate::device::DeviceProblem;

/// A code other than 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverCode(pub u32);

macro_rules! codes {
    ($($name:ident = $code:ident;)*) => {
        $(const $name: u32 = CUresult::$code as u32;)*
    };
}

codes! {
    INVALID_VALUE = CUDA_ERROR_INVALID_VALUE;
    OUT_OF_MEMORY = CUDA_ERROR_OUT_OF_MEMORY;
    NO_DEVICE = CUDA_ERROR_NO_DEVICE;
    INVALID_IMAGE = CUDA_ERROR_INVALID_IMAGE;
    UNSUPPORTED_LIMIT = CUDA_ERROR_UNSUPPORTED_LIMIT;
    INVALID_PTX = CUDA_ERROR_INVALID_PTX;
    INVALID_SOURCE = CUDA_ERROR_INVALID_SOURCE;
    SYMBOL_NOT_FOUND = CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
    SHARED_OBJECT_INIT_FAILED = CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
    NOT_FOUND = CUDA_ERROR_NOT_FOUND;
    ILLEGAL_ADDRESS = CUDA_ERROR_ILLEGAL_ADDRESS;
    LAUNCH_OUT_OF_RESOURCES = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    LAUNCH_TIMEOUT = CUDA_ERROR_LAUNCH_TIMEOUT;
    LAUNCH_INCOMPATIBLE_TEXTURING = CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING;
    ASSERT = CUDA_ERROR_ASSERT;
    HARDWARE_STACK_ERROR = CUDA_ERROR_HARDWARE_STACK_ERROR;
    ILLEGAL_INSTRUCTION = CUDA_ERROR_ILLEGAL_INSTRUCTION;
    MISALIGNED_ADDRESS = CUDA_ERROR_MISALIGNED_ADDRESS;
    INVALID_ADDRESS_SPACE = CUDA_ERROR_INVALID_ADDRESS_SPACE;
    INVALID_PC = CUDA_ERROR_INVALID_PC;
    LAUNCH_FAILED = CUDA_ERROR_LAUNCH_FAILED;
    COOPERATIVE_LAUNCH_TOO_LARGE = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    TENSOR_MEMORY_LEAK = CUDA_ERROR_TENSOR_MEMORY_LEAK;
    INVALID_CLUSTER_SIZE = CUDA_ERROR_INVALID_CLUSTER_SIZE;
    NOT_SUPPORTED = CUDA_ERROR_NOT_SUPPORTED;
}

impl DriverCode {
    pub fn is_no_device(self) -> bool {
        self.0 == NO_DEVICE
    }

    pub fn is_unsupported_limit(self) -> bool {
        self.0 == UNSUPPORTED_LIMIT
    }

    /// Whether the code is that of an index after the last one.
    pub fn is_invalid_value(self) -> bool {
        self.0 == INVALID_VALUE
    }

    /// The problem that a code means for earlier work; any later call may report it.
    pub fn of_work(self, what: String) -> DeviceProblem {
        match self.0 {
            OUT_OF_MEMORY => DeviceProblem::Limit(what),
            ILLEGAL_ADDRESS | INVALID_ADDRESS_SPACE => DeviceProblem::IllegalAddress(what),
            MISALIGNED_ADDRESS => DeviceProblem::MisalignedAddress(what),
            ILLEGAL_INSTRUCTION | INVALID_PC => DeviceProblem::IllegalInstruction(what),
            ASSERT => DeviceProblem::Trapped(what),
            LAUNCH_FAILED
            | HARDWARE_STACK_ERROR
            | LAUNCH_INCOMPATIBLE_TEXTURING
            | TENSOR_MEMORY_LEAK => DeviceProblem::LaunchFailed(what),
            LAUNCH_TIMEOUT => DeviceProblem::TimedOut,
            _ => DeviceProblem::Failed(what),
        }
    }

    /// The problem that a code means for a launch; an earlier launch may be its cause.
    pub fn of_launch(self, what: String) -> DeviceProblem {
        match self.0 {
            INVALID_VALUE
            | LAUNCH_OUT_OF_RESOURCES
            | COOPERATIVE_LAUNCH_TOO_LARGE
            | INVALID_CLUSTER_SIZE => DeviceProblem::InvalidLaunch(what),
            NOT_SUPPORTED => DeviceProblem::Unsupported(what),
            _ => self.of_work(what),
        }
    }

    /// The problem that a code means for an image. An image for another architecture, or in a newer PTX than the driver's,
    /// is not the source's fault: the platform compiled it.
    pub fn of_image(self, what: String) -> DeviceProblem {
        match self.0 {
            INVALID_IMAGE
            | INVALID_PTX
            | INVALID_SOURCE
            | SYMBOL_NOT_FOUND
            | SHARED_OBJECT_INIT_FAILED
            | NOT_FOUND => DeviceProblem::ImageRejected(what),
            OUT_OF_MEMORY => DeviceProblem::Limit(what),
            _ => DeviceProblem::Failed(what),
        }
    }
}
