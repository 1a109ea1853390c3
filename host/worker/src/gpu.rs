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
    /// Device that runs kernels [default: none]
    #[arg(long, value_enum)]
    gpu: Option<GpuArgument>,
    /// Architecture for CUDA sources that name none
    #[arg(long, value_name = "ARCH", default_value = "compute_90")]
    gpu_arch: String,
    /// Folder of the CUDA toolkit
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
    pub(crate) fn gpu(&self, program: &Path) -> Option<Gpu> {
        let kind = match self.gpu? {
            GpuArgument::Cuda => DeviceKind::Cuda,
            GpuArgument::Simulated => DeviceKind::Simulated,
        };
        Some(Gpu::new(GpuSettings { program: program.with_file_name(PROGRAM), kind }))
    }

    /// The device of a worker that has this many GPUs, 0 or 1.
    pub(crate) fn device(&self, gpus: u8, program: &Path) -> StageDevice {
        if gpus == 0 {
            return StageDevice::None(
                "this worker has no GPU: the stage must name a pool with GPUs, such as gpu; an \
                 operator gives a pool of another name GPUs by --workers POOL=N,gpus=1",
            );
        }
        match self.gpu(program) {
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
    fn a_worker_has_a_device_if_it_has_a_gpu_and_the_platform_runs_kernels() {
        let arguments = |gpu| GpuArguments { gpu, gpu_arch: "compute_90".into(), cuda: None };
        let device = |gpu, gpus| arguments(gpu).device(gpus, Path::new("/a/b"));
        let says = |device| match device {
            StageDevice::None(why) => why,
            StageDevice::Gpu(_) => "a device",
        };
        assert!(says(device(Some(GpuArgument::Simulated), 0)).contains("gpus=1"));
        assert!(says(device(None, 1)).contains("--gpu"));
        assert_eq!(says(device(Some(GpuArgument::Simulated), 1)), "a device");
    }
}
