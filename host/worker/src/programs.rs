//! How this machine runs untrusted programs and kernels, with the options for that of every command.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use assay_core::limits;
use assay_exec::support::SandboxPart;
use assay_exec::{Exec, ExecOptions, ObjectCache};
use assay_gpu::compiler::CudaCompiler;
use assay_sandbox::capability::gpu::StageDevice;
use assay_sandbox::capability::http::Network;
use parking_lot::Mutex;

use crate::gpu;

/// The file name of the helper's program, which is in the folder of this one.
const HELPER: &str = "assay-exec";

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct ProgramOptions {
    /// Folder with additional toolchains (*.toml)
    #[arg(long, value_name = "DIR")]
    toolchains: Option<PathBuf>,
    /// Parts of the programs' sandbox that this machine may lack: cgroups, landlock
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = part)]
    weaker: Vec<SandboxPart>,
    /// Certificates (PEM) that plugins' requests trust beside the public ones
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// The helper's program, when it does not lie beside this one
    #[arg(long, hide = true)]
    exec_program: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) gpu: gpu::GpuArguments,
}

/// The services that run programs and kernels, with the cache of objects.
pub(crate) struct ProgramRuntime {
    pub(crate) exec: Arc<Mutex<Exec>>,
    pub(crate) objects: Arc<ObjectCache>,
    pub(crate) compiler: Arc<Mutex<CudaCompiler>>,
    pub(crate) device: StageDevice,
    pub(crate) network: Arc<Network>,
}

impl ProgramOptions {
    /// Makes the services of a worker with this many GPUs; starts no process. The workers of a machine
    /// share the folder `cache`.
    pub(crate) fn open(&self, gpus: u8, cache: &Path) -> anyhow::Result<ProgramRuntime> {
        let (exec, objects) = self.exec(cache)?;
        let program = std::env::current_exe().context("finding this program")?;
        Ok(ProgramRuntime {
            exec: Arc::new(Mutex::new(exec)),
            objects,
            compiler: Arc::new(Mutex::new(self.gpu.compiler(&program, cache))),
            device: self.gpu.device(gpus, &program),
            network: Arc::new(self.network()?),
        })
    }

    fn network(&self) -> anyhow::Result<Network> {
        let Some(file) = &self.trust else { return Ok(Network::new()) };
        let pem = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        let trusting = Network::new().trust(&pem).map_err(anyhow::Error::msg);
        trusting.with_context(|| format!("in {}", file.display()))
    }

    /// Makes the service that runs programs, with the cache of objects.
    pub(crate) fn exec(&self, cache: &Path) -> anyhow::Result<(Exec, Arc<ObjectCache>)> {
        let objects = ObjectCache::open(&cache.join("objects"), limits::OBJECT_CACHE_BYTES_MAX);
        let objects = Arc::new(objects.context("opening the cache of objects")?);
        let exec = Exec::new(ExecOptions {
            helper_program: self.helper().context("finding this program")?,
            cache: cache.join("programs"),
            toolchains: self.toolchains.clone(),
            shown: self.gpu.shown(),
            weaker: self.weaker.clone(),
            objects: Arc::clone(&objects),
        });
        Ok((exec, objects))
    }

    fn helper(&self) -> io::Result<PathBuf> {
        match &self.exec_program {
            Some(program) => std::path::absolute(program),
            None => Ok(std::env::current_exe()?.with_file_name(HELPER)),
        }
    }
}

fn part(text: &str) -> Result<SandboxPart, String> {
    SandboxPart::parse(text).ok_or_else(|| {
        let known: Vec<&str> = SandboxPart::ALL.iter().map(|part| part.as_str()).collect();
        format!("it must be one of {}", known.join(", "))
    })
}
