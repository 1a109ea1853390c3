//! How this machine compiles CUDA and what it runs kernels on: the options that every command shares
//! which does.

use std::path::{Path, PathBuf};

use assay_exec::Shown;
use assay_gpu::compiler::{Compiler, CompilerOptions, shown};
use assay_gpu::session::{Gpu, GpuOptions, Kind};
use assay_sandbox::capability::gpu::Device;

/// The program that compiles in boxes and runs kernels, which lies beside this one.
const PROGRAM: &str = "assay-gpu";

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// What kernels run on; nothing unless given
    #[arg(long, value_enum)]
    gpu: Option<DeviceArgument>,
    /// What CUDA sources are compiled for where they do not say
    #[arg(long, value_name = "ARCH", default_value = "compute_90")]
    gpu_arch: String,
    /// The CUDA toolkit's folder
    #[arg(long, value_name = "DIR")]
    cuda: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DeviceArgument {
    /// A GPU of this machine that no other worker has
    Cuda,
    /// An interpreter
    Simulated,
}

/// Whether the stages of a pool have a GPU.
fn has_gpus(pool: &str) -> bool {
    pool == "gpu" || pool.starts_with("gpu-")
}

impl Options {
    /// What boxes must be shown for compilers to run in them.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        shown(self.cuda.as_deref())
    }

    /// Starts nothing. `program` is any of Assay's.
    pub(crate) fn compiler(&self, program: &Path, cache: &Path) -> Compiler {
        Compiler::new(CompilerOptions {
            toolkit: self.cuda.clone(),
            program: program.with_file_name(PROGRAM),
            arch: self.gpu_arch.clone(),
            cache: cache.to_owned(),
        })
    }

    /// `None` where no kernels are run.
    pub(crate) fn gpu(&self, program: &Path, cache: &Path) -> Option<Gpu> {
        let kind = match self.gpu? {
            DeviceArgument::Cuda => Kind::Cuda,
            DeviceArgument::Simulated => Kind::Simulated,
        };
        let locks = cache.join("gpus");
        Some(Gpu::new(GpuOptions { program: program.with_file_name(PROGRAM), kind, locks }))
    }

    /// For the stages of a pool.
    pub(crate) fn device(&self, pool: &str, program: &Path, cache: &Path) -> Device {
        if !has_gpus(pool) {
            return Device::None(
                "this worker has no GPU: the stage's pool must be gpu, or its name begin with gpu-",
            );
        }
        match self.gpu(program, cache) {
            Some(gpu) => Device::Gpu(gpu),
            None => Device::None("this platform runs no kernels: its operator can give it --gpu"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_pools_have_gpus() {
        for (pool, expected) in
            [("gpu", true), ("gpu-h100", true), ("cpu", false), ("gpus", false), ("no-gpu", false)]
        {
            assert_eq!(has_gpus(pool), expected, "{pool}");
        }
    }
}
