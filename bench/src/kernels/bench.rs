//! A compiler and a GPU as a worker has them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use assay_exec::{Cache, Caller, Exec, ExecOptions};
use assay_gpu::compiler::{
    Artifact, Compiler, CompilerOptions, FrontEnd, Request, TextFile, shown,
};
use assay_gpu::session::{Gpu, GpuOptions, Kind};
use assay_model::id::TenantId;

/// Of one call; far beyond what it takes on the busiest machine.
pub(crate) const CALL_MAX: Duration = Duration::from_secs(120);
const OBJECTS_BYTES_MAX: u64 = 64 << 20;
/// What the interpreter takes, and every GPU since by its driver's compiler.
pub(crate) const ARCH: &str = "compute_90";

pub(crate) struct Programs {
    pub(crate) exec: PathBuf,
    pub(crate) gpu: PathBuf,
}

pub(crate) struct Bench {
    pub(crate) toolkit: PathBuf,
    pub(crate) gpu: Gpu,
    exec: Exec,
    compiler: Compiler,
    tenant: TenantId,
}

impl Bench {
    pub(crate) fn new(programs: Programs, cuda: &Path, kind: Kind, folder: &Path) -> Result<Self> {
        let toolkit = std::path::absolute(cuda).context("finding the CUDA toolkit")?;
        let objects = folder.join("objects");
        std::fs::create_dir_all(&objects)?;
        let exec = Exec::new(ExecOptions {
            helper_program: programs.exec,
            cache: folder.to_owned(),
            toolchains: None,
            shown: shown(Some(&toolkit)),
            weaker: Vec::new(),
            objects: Arc::new(Cache::open(&objects, OBJECTS_BYTES_MAX)?),
        });
        let compiler = Compiler::new(CompilerOptions {
            toolkit: Some(toolkit.clone()),
            program: programs.gpu.clone(),
            arch: ARCH.into(),
            cache: folder.to_owned(),
        });
        let gpu = Gpu::new(GpuOptions { program: programs.gpu, kind, locks: folder.join("gpus") });
        Ok(Self { toolkit, gpu, exec, compiler, tenant: TenantId::generate() })
    }

    /// An error where the compiler says no: the benchmark's sources are good.
    pub(crate) fn compile(&mut self, front_end: FrontEnd, text: String) -> Result<Artifact> {
        let entries = match front_end {
            FrontEnd::NvccHost => vec!["solve".to_owned()],
            FrontEnd::Nvrtc | FrontEnd::NvccDevice => Vec::new(),
        };
        let request = Request {
            front_end,
            arch: String::new(),
            main: TextFile { path: "kernel.cu".into(), text },
            headers: Vec::new(),
            options: Vec::new(),
            name_expressions: Vec::new(),
            entries,
            cpu_ms: 0,
            memory_mib: 0,
        };
        let caller = self.caller();
        Ok(self.compiler.compile(&mut self.exec, &caller, &request)?)
    }

    pub(crate) fn record(
        &mut self,
        recording: &assay_gpu::compiler::Recording,
    ) -> Result<assay_gpu::compiler::Trace> {
        let caller = self.caller();
        Ok(self.compiler.record_plan(&mut self.exec, &caller, recording)?)
    }

    fn caller(&self) -> Caller {
        Caller { tenant: self.tenant, deadline: Instant::now() + CALL_MAX }
    }
}

/// The kernel of the plain script; each number another source, so that no cache has it.
pub(crate) fn source(peer: &Path, number: usize) -> Result<String> {
    let path = peer.join("kernel.cu");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}; run it from the checkout", path.display()))?;
    Ok(text.replace("NUMBER", &number.to_string()))
}
