//! Kernels, buffers and launches, in the words of `assay:gpu/types`, where each is explained.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElementType {
    Fp64,
    Fp32,
    Fp16,
    Bf16,
    I64,
    I32,
    I16,
    I8,
    Ui64,
    Ui32,
    Ui16,
    Ui8,
}

impl ElementType {
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Fp64 | Self::I64 | Self::Ui64 => 8,
            Self::Fp32 | Self::I32 | Self::Ui32 => 4,
            Self::Fp16 | Self::Bf16 | Self::I16 | Self::Ui16 => 2,
            Self::I8 | Self::Ui8 => 1,
        }
    }

    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Fp64 | Self::Fp32 | Self::Fp16 | Self::Bf16)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelParam {
    pub offset: u32,
    pub bytes: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    pub name: String,
    pub params: Vec<KernelParam>,
    pub registers: u32,
    pub static_shared_bytes: u32,
    pub local_bytes: u32,
    pub threads_max: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferAddress {
    pub buffer: u32,
    pub offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    pub at: u32,
    pub address: BufferAddress,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum KernelArg {
    Address(BufferAddress),
    I32(i32),
    I64(i64),
    Fp32(f32),
    Fp64(f64),
    ByValue {
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        patches: Vec<Patch>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelLaunch {
    pub module: u32,
    pub kernel: String,
    pub grid: Dim3,
    pub block: Dim3,
    pub cooperative: bool,
    pub dynamic_shared_bytes: u32,
    pub args: Vec<KernelArg>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PlanStep {
    Launch(KernelLaunch),
    Set { at: BufferAddress, bytes: u64, value: u8 },
    Copy { to: BufferAddress, from: BufferAddress, bytes: u64 },
}
