//! The operator's settings of GPUs and their compiler, as options of workers.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The device on which workers with a GPU run kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// An interpreter; its rewards are labelled as simulated.
    Simulated,
    /// The machine's GPUs, one for each worker.
    Cuda,
}

#[derive(Debug, Clone, Default)]
pub struct Gpu {
    /// `None` if no kernels are run.
    pub device: Option<Device>,
    /// The architecture to compile for: `sm_90`, or `compute_90` for a simulated device.
    pub arch: String,
    /// The CUDA toolkit's folder.
    pub toolkit: Option<PathBuf>,
    /// The pools whose workers have a GPU each.
    pub pools: BTreeSet<Arc<str>>,
}

impl Gpu {
    /// The options of every worker's command line.
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
