//! How this machine compiles CUDA and runs kernels, with the options for that of every command.

use std::path::{Path, PathBuf};

use assay_exec::Shown;
use assay_gpu::compiler::{CudaCompiler, CudaCompilerOptions, shown};
use assay_gpu::session::{DeviceKind, Gpu, GpuSettings};
use assay_sandbox::capability::gpu::StageDevice;

/// The file name of the program that compiles in boxes and runs kernels; it is in the folder of this one.
const PROGRAM: &str = "assay-gpu";

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct GpuArguments {
    /// What kernels run on; nothing unless given
    #[arg(long, value_enum)]
    gpu: Option<GpuArgument>,
    /// What CUDA sources are compiled for where they do not say
    #[arg(long, value_name = "ARCH", default_value = "compute_90")]
    gpu_arch: String,
    /// The CUDA toolkit's folder
    #[arg(long, value_name = "DIR")]
    cuda: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum GpuArgument {
    /// A GPU of this machine that no other worker has
    Cuda,
    /// An interpreter
    Simulated,
}

/// Whether the stages of a pool have a GPU.
fn has_gpus(pool: &str) -> bool {
    pool == "gpu" || pool.starts_with("gpu-")
}

impl GpuArguments {
    /// The folders that boxes must see for compilers to run in them.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        shown(self.cuda.as_deref())
    }

    /// Makes the compiler; starts no process. `program` is the path of any of Assay's programs.
    pub(crate) fn compiler(&self, program: &Path, cache: &Path) -> CudaCompiler {
        CudaCompiler::new(CudaCompilerOptions {
            toolkit: self.cuda.clone(),
            program: program.with_file_name(PROGRAM),
            arch: self.gpu_arch.clone(),
            cache: cache.to_owned(),
        })
    }

    /// The GPU; `None` if kernels are not run.
    pub(crate) fn gpu(&self, program: &Path, cache: &Path) -> Option<Gpu> {
        let kind = match self.gpu? {
            GpuArgument::Cuda => DeviceKind::Cuda,
            GpuArgument::Simulated => DeviceKind::Simulated,
        };
        let locks = cache.join("gpus");
        Some(Gpu::new(GpuSettings { program: program.with_file_name(PROGRAM), kind, locks }))
    }

    /// The device for the stages of a pool.
    pub(crate) fn device(&self, pool: &str, program: &Path, cache: &Path) -> StageDevice {
        if !has_gpus(pool) {
            return StageDevice::None(
                "this worker has no GPU: the stage's pool must be gpu, or its name begin with gpu-",
            );
        }
        match self.gpu(program, cache) {
            Some(gpu) => StageDevice::Gpu(gpu),
            None => {
                StageDevice::None("this platform runs no kernels: its operator can give it --gpu")
            }
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
