//! What an operator says about GPUs and the compiler for them, for workers to heed.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the workers of GPU pools run kernels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// An interpreter; rewards are labelled.
    Simulated,
    /// The machine's GPUs, one a worker.
    Cuda,
}

#[derive(Debug, Clone, Default)]
pub struct Gpu {
    /// `None`: kernels are not run.
    pub device: Option<Device>,
    /// What sources are compiled for: `sm_90`, or `compute_90` for a simulated device.
    pub arch: String,
    /// The CUDA toolkit's folder.
    pub toolkit: Option<PathBuf>,
}

impl Gpu {
    /// For the worker's command line.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        if let Some(device) = self.device {
            let name = match device {
                Device::Simulated => "simulated",
                Device::Cuda => "cuda",
            };
            arguments.extend(["--gpu".into(), name.into()]);
        }
        if !self.arch.is_empty() {
            arguments.extend(["--gpu-arch".into(), OsString::from(&self.arch)]);
        }
        if let Some(toolkit) = &self.toolkit {
            arguments.extend(["--cuda".into(), toolkit.into()]);
        }
        arguments
    }
}
