//! How this machine runs programs and kernels nobody trusts: the options that every command shares which does.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use assay_exec::support::Part;
use assay_exec::{Cache, Exec, ExecOptions};
use assay_gpu::compiler::Compiler;
use assay_model::limits;
use assay_sandbox::capability::gpu::Device;
use assay_sandbox::capability::http::Network;

use crate::gpu;

/// The helper's program, which lies beside this one.
const HELPER: &str = "assay-exec";

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Folder with further toolchains, a TOML file each
    #[arg(long, value_name = "DIR")]
    toolchains: Option<PathBuf>,
    /// Parts of the programs' sandbox that this machine may lack: cgroups, landlock
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = part)]
    weaker: Vec<Part>,
    /// Certificates (PEM) that plugins' requests trust beside the public ones
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// The helper's program, when it does not lie beside this one
    #[arg(long, hide = true)]
    exec_program: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) gpu: gpu::Options,
}

/// What runs programs and kernels, and where it finds objects.
pub(crate) struct Programs {
    pub(crate) exec: Arc<Mutex<Exec>>,
    pub(crate) objects: Arc<Cache>,
    pub(crate) compiler: Arc<Mutex<Compiler>>,
    pub(crate) device: Device,
    pub(crate) network: Arc<Network>,
}

impl Options {
    /// Nothing is started until a program is run. The workers of a machine share `cache`.
    pub(crate) fn open(&self, pool: &str, cache: &Path) -> anyhow::Result<Programs> {
        let (exec, objects) = self.exec(cache)?;
        let program = std::env::current_exe().context("finding this program")?;
        Ok(Programs {
            exec: Arc::new(Mutex::new(exec)),
            objects,
            compiler: Arc::new(Mutex::new(self.gpu.compiler(&program, cache))),
            device: self.gpu.device(pool, &program, cache),
            network: Arc::new(self.network()?),
        })
    }

    fn network(&self) -> anyhow::Result<Network> {
        let Some(file) = &self.trust else { return Ok(Network::new()) };
        let pem = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        let trusting = Network::new().trust(&pem).map_err(anyhow::Error::msg);
        trusting.with_context(|| format!("in {}", file.display()))
    }

    /// The same for one user alone.
    pub(crate) fn exec(&self, cache: &Path) -> anyhow::Result<(Exec, Arc<Cache>)> {
        let objects = Cache::open(&cache.join("objects"), limits::OBJECT_CACHE_BYTES_MAX);
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

fn part(text: &str) -> Result<Part, String> {
    Part::parse(text).ok_or_else(|| {
        let known: Vec<&str> = Part::ALL.iter().map(|part| part.as_str()).collect();
        format!("it must be one of {}", known.join(", "))
    })
}
