//! Looks at what this machine gives to programs and kernels, for `assay doctor`.

use std::path::Path;
use std::time::{Duration, Instant};

use assay_exec::support::Support;
use assay_gpu::compiler::{FrontEnd, Toolkit};
use assay_gpu::device::Properties;
use serde::Serialize;

use crate::programs;

/// A driver may take seconds to wake a GPU up.
const DESCRIBE_MAX: Duration = Duration::from_secs(60);

/// The document that is printed.
#[derive(Serialize)]
struct Report {
    engine: String,
    exec: Boxes,
    toolchains: Vec<Toolchain>,
    cuda: Result<Cuda, String>,
    /// Nothing where no kernels are to be run.
    gpu: Option<Result<Gpu, String>>,
}

#[derive(Serialize)]
struct Cuda {
    version: String,
    front_ends: Vec<&'static str>,
    arch: String,
}

#[derive(Serialize)]
struct Gpu {
    name: String,
    arch: String,
    simulated: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Boxes {
    Ok(Support),
    Refused(String),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Toolchain {
    Found { id: String, version: String },
    Missing { id: String, missing: String },
}

/// Prints one line of JSON. That no box can be had is a result, not a failure.
pub(crate) fn run(options: &programs::Options, cache: Option<&Path>) -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let cache = cache.unwrap_or(temporary.path());
    let (mut exec, _objects) = options.exec(cache)?;
    let program = std::env::current_exe()?;
    let found = options.gpu.compiler(&program, cache).found();
    let gpu = options.gpu.gpu(&program, cache);
    let described = gpu.map(|gpu| gpu.describe(Instant::now() + DESCRIBE_MAX));
    let report = exec.report();
    let toolchain = |(id, found)| match found {
        Ok(version) => Toolchain::Found { id, version },
        Err(missing) => Toolchain::Missing { id, missing },
    };
    let report = Report {
        engine: assay_sandbox::engine_id(),
        exec: match report.support {
            Ok(support) => Boxes::Ok(support),
            Err(reason) => Boxes::Refused(reason),
        },
        toolchains: report.toolchains.into_iter().map(toolchain).collect(),
        cuda: found.map(cuda).map_err(|error| error.to_string()),
        gpu: described.map(|it| it.map(shown).map_err(|error| error.to_string())),
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

fn cuda(toolkit: Toolkit) -> Cuda {
    let name = |front_end: &FrontEnd| match front_end {
        FrontEnd::Nvrtc => "nvrtc",
        FrontEnd::NvccDevice => "nvcc-device",
        FrontEnd::NvccHost => "nvcc-host",
    };
    let front_ends = toolkit.front_ends.iter().map(name).collect();
    Cuda { version: toolkit.version, front_ends, arch: toolkit.arch }
}

fn shown(properties: Properties) -> Gpu {
    let Properties { name, arch, simulated, .. } = properties;
    Gpu { name, arch, simulated }
}
