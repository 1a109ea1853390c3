//! Compiles CUDA in boxes and records what host functions would launch: what the capability
//! `assay:gpu/compiler` is bound to.
//!
//! The compiler's process is taken for hostile: a source may crash it, corrupt it or have it read
//! whatever it can. It sees a box, and what it leaves is checked before it is used. What a source does
//! is one of the first five cases of [`CompileError`]; what went wrong around it is the last two, and these
//! say nothing about the source. Owns what was compiled before (`store`) and what was found out about
//! the toolkit.

mod context;
mod device_code;
mod headers;
mod host;
mod kernels;
mod nvcc;
mod record;
mod request;
mod store;
mod toolkit;

pub mod install;
pub mod nvrtc;

use std::path::PathBuf;

use assay_exec::{Exec, JobContext};
use serde::{Deserialize, Serialize};

use crate::types::{ElementType, KernelInfo, PlanStep};
pub(crate) use context::CompileContext;
pub use toolkit::shown;

#[derive(Debug, Clone)]
pub struct CudaCompilerOptions {
    /// A folder that holds `bin`, `include`, `lib` (or `lib64`) and `nvvm`. Boxes must be shown it:
    /// [`shown`] belongs into their options.
    pub toolkit: Option<PathBuf>,
    /// The program `assay-gpu`.
    pub program: PathBuf,
    /// The architecture for requests that name none, such as `sm_90` or `compute_90`.
    pub arch: String,
    /// A folder that all workers of a machine share; what lies in it may be lost.
    pub cache: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FrontEnd {
    Nvrtc,
    NvccDevice,
    NvccHost,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolkit {
    /// The version, such as `13.0`.
    pub version: String,
    pub front_ends: Vec<FrontEnd>,
    pub arch: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFile {
    pub path: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuildOption {
    FastMath,
    NoFma,
    LineInfo,
    RegistersMax(u32),
    Define { name: String, value: Option<String> },
    Std(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileRequest {
    pub front_end: FrontEnd,
    /// `sm_90`, `compute_90`; empty for the toolkit's.
    pub arch: String,
    pub main: TextFile,
    pub headers: Vec<TextFile>,
    pub options: Vec<BuildOption>,
    pub name_expressions: Vec<String>,
    pub entries: Vec<String>,
    /// 0 for the default, as below; kept within a ceiling.
    pub cpu_ms: u32,
    pub memory_mib: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CudaArtifact {
    /// A cubin for `sm_…`, PTX for `compute_…`.
    #[serde(with = "serde_bytes")]
    pub image: Vec<u8>,
    pub ptx: String,
    pub host_object: Option<Vec<u8>>,
    pub kernels: Vec<KernelInfo>,
    /// The kernels of the name expressions, in that order.
    pub lowered_names: Vec<String>,
    pub log: String,
    pub toolchain: String,
    pub arch: String,
    /// Nothing was run.
    pub cached: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    pub buffer: u32,
    pub dtype: ElementType,
    pub shape: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum EntryArgument {
    Tensor(Tensor),
    I32(i32),
    I64(i64),
    Fp32(f32),
    Fp64(f64),
    Boolean(bool),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    pub buffer: u32,
    pub offset: u64,
    pub dtype: ElementType,
    pub shape: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedTrace {
    pub steps: Vec<PlanStep>,
    pub scratch_bytes: Vec<u64>,
    pub returned: Vec<Returned>,
    pub unsupported: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    pub host_object: Vec<u8>,
    pub entry: String,
    pub buffers: Vec<u64>,
    pub arguments: Vec<EntryArgument>,
    /// 0 for the default; kept within a ceiling.
    pub cpu_ms: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The compiler rejected the source; this is its log.
    #[error("rejected: {0}")]
    Rejected(String),
    #[error("the source took the compiler beyond its CPU time")]
    TimedOut,
    #[error("the source took the compiler beyond its memory")]
    OutOfMemory,
    #[error("crashed: {0}")]
    Crashed(String),
    /// It has more bytes than this limit.
    #[error("what came out has more than {0} bytes")]
    TooLarge(u64),
    /// The plugin's fault.
    #[error("bad request: {0}")]
    BadRequest(String),
    /// The following errors are not the source's fault.
    #[error("the stage's time is over")]
    Cancelled,
    #[error("CUDA cannot be compiled: {0}")]
    Unavailable(String),
}

pub struct CudaCompiler {
    options: CudaCompilerOptions,
    /// Once it was looked for.
    installed: Option<toolkit::Installed>,
    tools: context::ProbedTools,
    store: store::CudaStore,
}

impl CudaCompiler {
    /// Starts nothing and looks at nothing.
    #[must_use]
    pub fn new(options: CudaCompilerOptions) -> Self {
        let store = store::CudaStore::new(options.cache.join("cuda"));
        Self { options, installed: None, tools: context::ProbedTools::default(), store }
    }

    /// The toolkit of this machine.
    pub fn found(&mut self) -> Result<Toolkit, CompileError> {
        let arch = self.options.arch.clone();
        let installed = self.installed()?;
        Ok(Toolkit { version: installed.version.clone(), front_ends: installed.front_ends(), arch })
    }

    /// Compiles, or finds what was compiled for this tenant before. Rejections are not kept.
    pub fn compile(
        &mut self,
        exec: &mut Exec,
        caller: &JobContext,
        request: &CompileRequest,
    ) -> Result<CudaArtifact, CompileError> {
        let mut request = request.clone();
        if request.arch.is_empty() {
            request.arch.clone_from(&self.options.arch);
        }
        let limits = request::check(&request)?;
        self.installed()?.needs(request.front_end)?;
        let Self { options, installed, tools, store } = self;
        let toolkit = installed.as_ref().expect("it was just found");
        let name = store::name(caller.tenant, toolkit, &options.program, &request);
        if let Some(artifact) = store.get(&name) {
            return Ok(artifact);
        }
        let mut context = CompileContext { exec, caller, toolkit, tools, options };
        let artifact = match request.front_end {
            FrontEnd::Nvrtc => device_code::nvrtc(&mut context, &request, limits)?,
            FrontEnd::NvccDevice => device_code::nvcc(&mut context, &request, limits)?,
            FrontEnd::NvccHost => host::compile(&mut context, &request, limits)?,
        };
        store.put(&name, &artifact);
        Ok(artifact)
    }

    /// Runs a host function of a `host_object` against a recording runtime.
    pub fn record_plan(
        &mut self,
        exec: &mut Exec,
        caller: &JobContext,
        recording: &Recording,
    ) -> Result<RecordedTrace, CompileError> {
        self.installed()?;
        let Self { options, installed, tools, .. } = self;
        let toolkit = installed.as_ref().expect("it was just found");
        record::record(&mut CompileContext { exec, caller, toolkit, tools, options }, recording)
    }

    fn installed(&mut self) -> Result<&toolkit::Installed, CompileError> {
        if self.installed.is_none() {
            self.installed = Some(toolkit::find(self.options.toolkit.as_deref())?);
        }
        Ok(self.installed.as_ref().expect("it was just found"))
    }
}
