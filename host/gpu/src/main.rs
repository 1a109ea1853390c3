//! `assay-gpu`: the parts of the GPU capability that run outside of the worker's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("nvrtc") => assay_gpu::compiler::nvrtc::main(),
        Some("install") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            assay_gpu::compiler::install::main(&arguments)
        }
        Some("serve") => assay_gpu::executor::main(),
        Some("devices") => assay_gpu::cuda::main(),
        _ => {
            eprintln!(
                "assay-gpu drives GPUs and compiles for them; a worker starts it by itself. \
                 `assay gpu` is for people."
            );
            ExitCode::FAILURE
        }
    }
}
