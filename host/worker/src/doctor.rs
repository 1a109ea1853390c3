//! Reports the parts of this machine that programs and kernels need, for `assay doctor`.

use std::path::Path;
use std::time::{Duration, Instant};

use assay_exec::support::BoxSupport;
use assay_gpu::compiler::{FrontEnd, Toolkit};
use assay_gpu::device::Properties;
use serde::Serialize;

use crate::programs;

/// The time to describe a GPU; a driver may take seconds to start one.
const DESCRIBE_MAX: Duration = Duration::from_secs(60);

/// The document that is printed.
#[derive(Serialize)]
struct DoctorReport {
    engine: String,
    exec: BoxesLine,
    toolchains: Vec<ToolchainLine>,
    cuda: Result<CudaLine, String>,
    /// `None` if kernels are not run.
    gpu: Option<Result<GpuLine, String>>,
}

#[derive(Serialize)]
struct CudaLine {
    version: String,
    front_ends: Vec<&'static str>,
    arch: String,
}

#[derive(Serialize)]
struct GpuLine {
    name: String,
    arch: String,
    simulated: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum BoxesLine {
    Ok(BoxSupport),
    Refused(String),
}

#[derive(Serialize)]
#[serde(untagged)]
enum ToolchainLine {
    Found { id: String, version: String },
    Missing { id: String, missing: String },
}

/// Prints one line of JSON. A machine without boxes is a result, not a failure.
pub(crate) fn run(options: &programs::ProgramOptions, cache: Option<&Path>) -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let cache = cache.unwrap_or(temporary.path());
    let (mut exec, _objects) = options.exec(cache)?;
    let program = std::env::current_exe()?;
    let found = options.gpu.compiler(&program, cache).found();
    let gpu = options.gpu.gpu(&program);
    let described = gpu.map(|gpu| gpu.describe(Instant::now() + DESCRIBE_MAX));
    let report = exec.report();
    let toolchain = |(id, found)| match found {
        Ok(version) => ToolchainLine::Found { id, version },
        Err(missing) => ToolchainLine::Missing { id, missing },
    };
    let report = DoctorReport {
        engine: assay_sandbox::engine_id(),
        exec: match report.support {
            Ok(support) => BoxesLine::Ok(support),
            Err(reason) => BoxesLine::Refused(reason),
        },
        toolchains: report.toolchains.into_iter().map(toolchain).collect(),
        cuda: found.map(cuda).map_err(|error| error.to_string()),
        gpu: described.map(|it| it.map(shown).map_err(|error| error.to_string())),
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

fn cuda(toolkit: Toolkit) -> CudaLine {
    let name = |front_end: &FrontEnd| match front_end {
        FrontEnd::Nvrtc => "nvrtc",
        FrontEnd::NvccDevice => "nvcc-device",
        FrontEnd::NvccHost => "nvcc-host",
    };
    let front_ends = toolkit.front_ends.iter().map(name).collect();
    CudaLine { version: toolkit.version, front_ends, arch: toolkit.arch }
}

fn shown(properties: Properties) -> GpuLine {
    let Properties { name, arch, simulated, .. } = properties;
    GpuLine { name, arch, simulated }
}
