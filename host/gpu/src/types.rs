//! Kernels, buffers and launches, in the words of `assay:gpu/types`, where each is explained.

use serde::{Deserialize, Serialize};

/// The type of a buffer's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElementType {
    /// IEEE 754 binary64.
    Fp64,
    /// IEEE 754 binary32.
    Fp32,
    /// IEEE 754 binary16.
    Fp16,
    /// bfloat16.
    Bf16,
    /// Signed, 64 bits.
    I64,
    /// Signed, 32 bits.
    I32,
    /// Signed, 16 bits.
    I16,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 64 bits.
    Ui64,
    /// Unsigned, 32 bits.
    Ui32,
    /// Unsigned, 16 bits.
    Ui16,
    /// Unsigned, 8 bits.
    Ui8,
}

impl ElementType {
    /// The size of an element, in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Fp64 | Self::I64 | Self::Ui64 => 8,
            Self::Fp32 | Self::I32 | Self::Ui32 => 4,
            Self::Fp16 | Self::Bf16 | Self::I16 | Self::Ui16 => 2,
            Self::I8 | Self::Ui8 => 1,
        }
    }

    /// Whether it is a floating-point type.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Fp64 | Self::Fp32 | Self::Fp16 | Self::Bf16)
    }
}

/// The size of a grid or of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dim3 {
    /// The size in x.
    pub x: u32,
    /// The size in y.
    pub y: u32,
    /// The size in z.
    pub z: u32,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelParam {
    /// Its place among the parameters, in bytes.
    pub offset: u32,
    /// Its size, in bytes.
    pub bytes: u32,
}

/// A kernel of a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    /// The name, mangled if the source is C++.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<KernelParam>,
    /// The registers of a thread; 0 where they are not known before the kernel is loaded.
    pub registers: u32,
    /// The static shared memory of a block, in bytes.
    pub static_shared_bytes: u32,
    /// The local memory of a thread, in bytes.
    pub local_bytes: u32,
    /// The most threads of a block.
    pub threads_max: u32,
}

/// The address of a byte of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferAddress {
    /// The number of the buffer.
    pub buffer: u32,
    /// The offset of the byte.
    pub offset: u64,
}

/// An address that is written into a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// The offset in the struct.
    pub at: u32,
    /// The address.
    pub address: BufferAddress,
}

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum KernelArg {
    /// A pointer.
    Address(BufferAddress),
    /// A signed integer of 32 bits.
    I32(i32),
    /// A signed integer of 64 bits.
    I64(i64),
    /// A number of 32 bits.
    Fp32(f32),
    /// A number of 64 bits.
    Fp64(f64),
    /// A struct by value.
    ByValue {
        /// The bytes of the struct.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        /// The addresses in it.
        patches: Vec<Patch>,
    },
}

/// A launch of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelLaunch {
    /// The number of the module.
    pub module: u32,
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
    /// The arguments, in order.
    pub args: Vec<KernelArg>,
}

/// A step of a plan. Steps run in order, on one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PlanStep {
    /// Launches a kernel.
    Launch(KernelLaunch),
    /// Sets each byte of a range.
    Set {
        /// The first byte.
        at: BufferAddress,
        /// The number of bytes.
        bytes: u64,
        /// The value of each byte.
        value: u8,
    },
    /// Copies a range.
    Copy {
        /// The first byte of the target.
        to: BufferAddress,
        /// The first byte of the source.
        from: BufferAddress,
        /// The number of bytes.
        bytes: u64,
    },
}
