//! Compiles CUDA in boxes and records what host functions would launch: what the capability
//! `assay:gpu/compiler` is bound to.
//!
//! The compiler's process is taken for hostile: a source may crash it, corrupt it or have it read
//! whatever it can. It sees a box, and what it leaves is checked before it is used. The faults of a
//! source are the first five cases of [`CompileError`]; the last two are faults around it, which
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

/// The operator's options for the compiler.
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

/// The program that compiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FrontEnd {
    /// The run-time compiler: kernels alone, the fastest.
    Nvrtc,
    /// nvcc: a whole `.cu` file, its kernels alone.
    NvccDevice,
    /// nvcc: a whole `.cu` file with host functions, for a recording.
    NvccHost,
}

/// The CUDA toolkit of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolkit {
    /// The version, such as `13.0`.
    pub version: String,
    /// The front ends that it has.
    pub front_ends: Vec<FrontEnd>,
    /// The architecture of this platform's GPU workers: `sm_90`, or `compute_90` where they are simulated.
    pub arch: String,
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFile {
    /// The path, relative to the folder that is compiled in.
    pub path: String,
    /// The text.
    pub text: String,
}

/// An option of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuildOption {
    /// Faster and less exact arithmetic.
    FastMath,
    /// No fused multiply-add.
    NoFma,
    /// Line numbers in the machine code.
    LineInfo,
    /// The most registers of a thread.
    RegistersMax(u32),
    /// Defines a macro.
    Define {
        /// The name.
        name: String,
        /// The value; 1 if there is none.
        value: Option<String>,
    },
    /// The standard of the language, such as `c++17`.
    Std(String),
}

/// A source to compile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileRequest {
    /// The front end.
    pub front_end: FrontEnd,
    /// `sm_90`, `compute_90`; empty for the toolkit's.
    pub arch: String,
    /// The file that is compiled.
    pub main: TextFile,
    /// The files that it may include.
    pub headers: Vec<TextFile>,
    /// The options.
    pub options: Vec<BuildOption>,
    /// The templates to instantiate, such as `reduce<float, 256>`; NVRTC alone.
    pub name_expressions: Vec<String>,
    /// The host functions to be recorded; `NvccHost` alone.
    pub entries: Vec<String>,
    /// 0 for the default, as below; kept within a ceiling.
    pub cpu_ms: u32,
    /// The memory limit of the compiler's processes, in MiB.
    pub memory_mib: u32,
}

/// Compiled code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CudaArtifact {
    /// A cubin for `sm_…`, PTX for `compute_…`.
    #[serde(with = "serde_bytes")]
    pub image: Vec<u8>,
    /// The PTX.
    pub ptx: String,
    /// The host functions, for a recording.
    pub host_object: Option<Vec<u8>>,
    /// The kernels.
    pub kernels: Vec<KernelInfo>,
    /// The kernels of the name expressions, in that order.
    pub lowered_names: Vec<String>,
    /// The compiler's warnings.
    pub log: String,
    /// The compiler and its version, such as `nvrtc 13.0.88`.
    pub toolchain: String,
    /// The architecture of the image.
    pub arch: String,
    /// Whether the artifact came from the cache, so that nothing was run.
    pub cached: bool,
}

/// A buffer as a host function sees it: contiguous, the last dimension fastest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// The number of the buffer.
    pub buffer: u32,
    /// The offset of its first byte.
    pub offset: u64,
    /// The type of the elements.
    pub dtype: ElementType,
    /// The size of each dimension.
    pub shape: Vec<u64>,
}

/// An argument of a host function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum EntryArgument {
    /// A tensor, or a pointer to its first element.
    Tensor(Tensor),
    /// A signed integer of 32 bits.
    I32(i32),
    /// A signed integer of 64 bits.
    I64(i64),
    /// A number of 32 bits.
    Fp32(f32),
    /// A number of 64 bits.
    Fp64(f64),
    /// A truth value.
    Boolean(bool),
    /// No value: an empty `std::optional`, or a tensor that is not defined.
    Absent,
    /// Several integers.
    Integers(Vec<i64>),
    /// Several tensors.
    Tensors(Vec<Tensor>),
}

/// A tensor that a recorded function returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    /// The number of the buffer.
    pub buffer: u32,
    /// The offset of its first byte.
    pub offset: u64,
    /// The type of the elements.
    pub dtype: ElementType,
    /// The size of each dimension.
    pub shape: Vec<u64>,
}

/// The plan of a recorded host function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedTrace {
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
    /// The bytes of each buffer that it allocated; their numbers follow the caller's.
    pub scratch_bytes: Vec<u64>,
    /// The tensors that it returned.
    pub returned: Vec<Returned>,
    /// The calls that cannot be replayed; the steps are complete only if this is empty.
    pub unsupported: Vec<String>,
}

/// A host function to record.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The host functions of an artifact.
    pub host_object: Vec<u8>,
    /// The name of the function.
    pub entry: String,
    /// The bytes of each of the caller's buffers.
    pub buffers: Vec<u64>,
    /// The arguments, in order.
    pub arguments: Vec<EntryArgument>,
    /// 0 for the default; kept within a ceiling.
    pub cpu_ms: u32,
}

/// The reason why there is no code or no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The compiler rejected the source; this is its log.
    #[error("rejected: {0}")]
    Rejected(String),
    /// The source took the compiler beyond its CPU time.
    #[error("the source took the compiler beyond its CPU time")]
    TimedOut,
    /// The source took the compiler or the recorded function beyond its memory.
    #[error("the source took the compiler beyond its memory")]
    OutOfMemory,
    /// The compiler or the recorded function ended by itself.
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
    /// The operator installed no toolkit, or one that lacks what was asked for; a repeat changes nothing.
    #[error("CUDA cannot be compiled: {0}")]
    NoToolkit(String),
    /// The machine cannot compile now; says nothing about the source.
    #[error("CUDA cannot be compiled: {0}")]
    Unavailable(String),
}

/// The compiler of a worker.
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
        // A slow disk costs the caller nothing.
        if let Some(artifact) = exec.set_up(|_| store.get(&name)) {
            return Ok(artifact);
        }
        let mut context = CompileContext { exec, caller, toolkit, tools, options };
        let artifact = match request.front_end {
            FrontEnd::Nvrtc => device_code::nvrtc(&mut context, &request, limits)?,
            FrontEnd::NvccDevice => device_code::nvcc(&mut context, &request, limits)?,
            FrontEnd::NvccHost => host::compile(&mut context, &request, limits)?,
        };
        exec.set_up(|_| store.put(&name, &artifact));
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
