//! A compiler and a GPU as a worker has them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use assay_core::id::TenantId;
use assay_exec::{Exec, ExecOptions, JobContext, ObjectCache};
use assay_gpu::compiler::{
    CompileRequest, CudaArtifact, CudaCompiler, CudaCompilerOptions, FrontEnd, TextFile, shown,
};
use assay_gpu::session::{DeviceKind, Gpu, GpuSettings};

/// The time limit of one call; far beyond the time that it takes on the busiest machine.
pub(crate) const CALL_MAX: Duration = Duration::from_secs(120);
const OBJECTS_BYTES_MAX: u64 = 64 << 20;
/// The architecture that the interpreter accepts; the driver of every later GPU compiles it too.
pub(crate) const ARCH: &str = "compute_90";

pub(crate) struct Programs {
    pub(crate) exec: PathBuf,
    pub(crate) gpu: PathBuf,
}

pub(crate) struct KernelBenchmark {
    pub(crate) toolkit: PathBuf,
    pub(crate) gpu: Gpu,
    exec: Exec,
    compiler: CudaCompiler,
    tenant: TenantId,
}

impl KernelBenchmark {
    pub(crate) fn new(
        programs: Programs,
        cuda: &Path,
        kind: DeviceKind,
        folder: &Path,
    ) -> Result<Self> {
        let toolkit = std::path::absolute(cuda).context("finding the CUDA toolkit")?;
        let objects = folder.join("objects");
        std::fs::create_dir_all(&objects)?;
        let exec = Exec::new(ExecOptions {
            helper_program: programs.exec,
            cache: folder.to_owned(),
            toolchains: None,
            shown: shown(Some(&toolkit)),
            weaker: Vec::new(),
            objects: Arc::new(ObjectCache::open(&objects, OBJECTS_BYTES_MAX)?),
        });
        let compiler = CudaCompiler::new(CudaCompilerOptions {
            toolkit: Some(toolkit.clone()),
            program: programs.gpu.clone(),
            arch: ARCH.into(),
            cache: folder.to_owned(),
        });
        let gpu = Gpu::new(GpuSettings { program: programs.gpu, kind });
        Ok(Self { toolkit, gpu, exec, compiler, tenant: TenantId::generate() })
    }

    /// An error where the compiler says no: the benchmark's sources are good.
    pub(crate) fn compile(&mut self, front_end: FrontEnd, text: String) -> Result<CudaArtifact> {
        let entries = match front_end {
            FrontEnd::NvccHost => vec!["solve".to_owned()],
            FrontEnd::Nvrtc | FrontEnd::NvccDevice => Vec::new(),
        };
        let request = CompileRequest {
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
    ) -> Result<assay_gpu::compiler::RecordedTrace> {
        let caller = self.caller();
        Ok(self.compiler.record_plan(&mut self.exec, &caller, recording)?)
    }

    fn caller(&self) -> JobContext {
        let deadline = Instant::now() + CALL_MAX;
        JobContext { tenant: self.tenant, deadline, latest: deadline }
    }
}

/// The kernel of the plain script; each number another source, so that no cache has it.
pub(crate) fn source(peer: &Path, number: usize) -> Result<String> {
    let path = peer.join("kernel.cu");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}; run it from the checkout", path.display()))?;
    Ok(text.replace("NUMBER", &number.to_string()))
}
