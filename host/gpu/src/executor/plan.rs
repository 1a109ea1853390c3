//! A plan whose buffers have become addresses.

use crate::device::{Device, DeviceProblem, RawLaunch};
use crate::types::{BufferAddress, KernelArg, PlanStep};

use super::buffer::{DeviceBuffer, unknown};

const POINTER_BYTES: usize = 8;

#[derive(Debug)]
pub(crate) enum RawStep {
    Launch { module: u32, launch: RawLaunch },
    Set { at: u64, bytes: u64, value: u8 },
    Copy { to: u64, from: u64, bytes: u64 },
}

impl RawStep {
    pub(crate) fn new(step: &PlanStep, buffers: &[DeviceBuffer]) -> Result<Self, DeviceProblem> {
        Ok(match step {
            PlanStep::Launch(launch) => Self::Launch {
                module: launch.module,
                launch: RawLaunch {
                    kernel: launch.kernel.clone(),
                    grid: launch.grid,
                    block: launch.block,
                    cooperative: launch.cooperative,
                    dynamic_shared_bytes: launch.dynamic_shared_bytes,
                    args: launch
                        .args
                        .iter()
                        .map(|arg| argument(arg, buffers))
                        .collect::<Result<_, _>>()?,
                },
            },
            PlanStep::Set { at, bytes, value } => {
                Self::Set { at: place(*at, buffers)?, bytes: *bytes, value: *value }
            }
            PlanStep::Copy { to, from, bytes } => {
                Self::Copy { to: place(*to, buffers)?, from: place(*from, buffers)?, bytes: *bytes }
            }
        })
    }

    pub(crate) fn run(&self, device: &mut dyn Device) -> Result<(), DeviceProblem> {
        match self {
            Self::Launch { module, launch } => device.launch(*module, launch),
            Self::Set { at, bytes, value } => device.set(*at, *bytes, *value),
            Self::Copy { to, from, bytes } => device.copy(*to, *from, *bytes),
        }
    }
}

fn place(address: BufferAddress, buffers: &[DeviceBuffer]) -> Result<u64, DeviceProblem> {
    let buffer = buffers.get(address.buffer as usize);
    let buffer = buffer.ok_or_else(|| unknown("buffer", address.buffer))?;
    Ok(buffer.data().wrapping_add(address.offset))
}

fn argument(arg: &KernelArg, buffers: &[DeviceBuffer]) -> Result<Vec<u8>, DeviceProblem> {
    Ok(match arg {
        KernelArg::Address(address) => place(*address, buffers)?.to_le_bytes().to_vec(),
        KernelArg::I32(number) => number.to_le_bytes().to_vec(),
        KernelArg::I64(number) => number.to_le_bytes().to_vec(),
        KernelArg::Fp32(number) => number.to_le_bytes().to_vec(),
        KernelArg::Fp64(number) => number.to_le_bytes().to_vec(),
        KernelArg::ByValue { bytes, patches } => {
            let mut bytes = bytes.clone();
            for patch in patches {
                let at = patch.at as usize;
                let pointer = bytes.get_mut(at..at + POINTER_BYTES);
                let pointer = pointer
                    .ok_or_else(|| DeviceProblem::BadArguments("a patch is outside".into()))?;
                pointer.copy_from_slice(&place(patch.address, buffers)?.to_le_bytes());
            }
            bytes
        }
    })
}
