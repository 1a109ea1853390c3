//! The contents of buffers, and how they are made.

use assay_plugin::gpu::{self, device};
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dtype {
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
    pub(crate) fn to_host(self) -> gpu::Dtype {
        match self {
            Self::Fp64 => gpu::Dtype::Fp64,
            Self::Fp32 => gpu::Dtype::Fp32,
            Self::Fp16 => gpu::Dtype::Fp16,
            Self::Bf16 => gpu::Dtype::Bf16,
            Self::I64 => gpu::Dtype::I64,
            Self::I32 => gpu::Dtype::I32,
            Self::I16 => gpu::Dtype::I16,
            Self::I8 => gpu::Dtype::I8,
            Self::Ui64 => gpu::Dtype::Ui64,
            Self::Ui32 => gpu::Dtype::Ui32,
            Self::Ui16 => gpu::Dtype::Ui16,
            Self::Ui8 => gpu::Dtype::Ui8,
        }
    }

    pub(crate) fn bytes(self) -> u64 {
        self.to_host().bytes()
    }

    /// The integers that it holds; `None` for floats.
    fn range(self) -> Option<(i128, i128)> {
        let bits = self.bytes() * 8;
        match self {
            Self::Fp64 | Self::Fp32 | Self::Fp16 | Self::Bf16 => None,
            Self::I64 | Self::I32 | Self::I16 | Self::I8 => {
                let half = 1_i128 << (bits - 1);
                Some((-half, half - 1))
            }
            Self::Ui64 | Self::Ui32 | Self::Ui16 | Self::Ui8 => Some((0, (1_i128 << bits) - 1)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Input,
    Output,
    Inout,
}

impl Role {
    pub(crate) fn to_host(self) -> device::Role {
        match self {
            Self::Input => device::Role::Input,
            Self::Output => device::Role::Output,
            Self::Inout => device::Role::Inout,
        }
    }

    pub(crate) fn is_compared(self) -> bool {
        self != Self::Input
    }

    pub(crate) fn is_given(self) -> bool {
        self != Self::Output
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Init {
    Zeros,
    /// From, to.
    Uniform(f64, f64),
    /// Mean, deviation.
    Normal(f64, f64),
    /// Both may come out.
    Integers(i64, i64),
    Permutation,
}

impl Init {
    pub(crate) fn to_host(self) -> device::Init {
        match self {
            Self::Zeros => device::Init::Zeros,
            Self::Uniform(low, high) => device::Init::Uniform(device::Uniform { low, high }),
            Self::Normal(mean, deviation) => {
                device::Init::Normal(device::Normal { mean, deviation })
            }
            Self::Integers(low, high) => device::Init::Integers(device::Integers { low, high }),
            Self::Permutation => device::Init::Permutation,
        }
    }

    pub(super) fn check(self, dtype: Dtype) -> Result<(), String> {
        match (self, dtype.range()) {
            (Self::Zeros | Self::Permutation, _) => Ok(()),
            (Self::Uniform(..) | Self::Normal(..), Some(_)) => {
                Err("integers are made by zeros, integers or permutation".into())
            }
            (Self::Uniform(low, high), None)
                if low.is_finite() && high.is_finite() && low < high =>
            {
                Ok(())
            }
            (Self::Uniform(..), None) => {
                Err("uniform needs two numbers, the lower one first".into())
            }
            (Self::Normal(mean, deviation), None) if mean.is_finite() && deviation.is_finite() => {
                if deviation > 0.0 {
                    return Ok(());
                }
                Err("normal needs a mean and a deviation above 0".into())
            }
            (Self::Normal(..), None) => Err("normal needs two finite numbers".into()),
            (Self::Integers(low, high), _) if low > high => {
                Err("integers needs the lower number first".into())
            }
            (Self::Integers(low, high), Some((least, most)))
                if i128::from(low) < least || i128::from(high) > most =>
            {
                Err(format!("integers must be {least} to {most}"))
            }
            (Self::Integers(..), _) => Ok(()),
        }
    }

    /// The largest number of elements that it can be asked for.
    pub(super) fn count_max(self, dtype: Dtype) -> Option<i128> {
        match (self, dtype.range()) {
            (Self::Permutation, Some((_, most))) => Some(most + 1),
            _ => None,
        }
    }
}
