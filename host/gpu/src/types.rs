//! Kernels, buffers and launches, in the words of `assay:gpu/types`, where each is explained.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Dtype {
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

impl Dtype {
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
pub struct Param {
    pub offset: u32,
    pub bytes: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    pub name: String,
    pub params: Vec<Param>,
    pub registers: u32,
    pub static_shared_bytes: u32,
    pub local_bytes: u32,
    pub threads_max: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    pub buffer: u32,
    pub offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    pub at: u32,
    pub address: Address,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Arg {
    Address(Address),
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
pub struct Launch {
    pub module: u32,
    pub kernel: String,
    pub grid: Dim3,
    pub block: Dim3,
    pub cooperative: bool,
    pub dynamic_shared_bytes: u32,
    pub args: Vec<Arg>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Step {
    Launch(Launch),
    Set { at: Address, bytes: u64, value: u8 },
    Copy { to: Address, from: Address, bytes: u64 },
}
