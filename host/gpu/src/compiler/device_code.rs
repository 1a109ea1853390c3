//! Kernels alone: by the run-time compiler, or by nvcc from a whole `.cu` file.

use std::fs;
use std::os::fd::AsFd as _;
use std::path::Path;

use assay_core::limits::GPU_IMAGE_BYTES_MAX;
use assay_exec::job::{Purpose, WORKING_FOLDER};
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::ProgramEnding;
use assay_exec::{BoxJob, JobEnd, JobFile, JobProgram, sealed};

use super::context::{self, CompilerInfo, with_log};
use super::kernels::{self, CompilerLog};
use super::nvrtc::{ANSWER, NO_LIBRARY, NvrtcAnswer, NvrtcRequest, NvrtcSource, ORDER};
use super::{CompileContext, CompileError, CompileRequest, CudaArtifact, headers, nvcc, request};

/// The assembler's notes on each kernel, which [`CompilerLog`] reads.
pub(crate) const VERBOSE: &str = "--ptxas-options=-v";
const CUBIN: &str = ".assay/out.cubin";
const PTX: &str = ".assay/out.ptx";
const ELF: &[u8] = b"\x7fELF";

/// For a GPU; else for whatever compiles PTX.
pub(crate) fn is_machine(arch: &str) -> bool {
    arch.starts_with("sm_")
}

/// Device code as a compiler left it.
pub(crate) struct DeviceCode {
    /// For a `compute_…` none.
    pub machine_code: Option<Vec<u8>>,
    pub ptx: Vec<u8>,
    pub said: CompilerLog,
}

impl DeviceCode {
    /// Checks it: a compiler that was taken over may have left anything.
    pub fn into_artifact(
        self,
        toolchain: String,
        arch: &str,
    ) -> Result<CudaArtifact, CompileError> {
        let Self { machine_code, ptx, said } = self;
        let ptx = String::from_utf8(ptx).map_err(|_| {
            CompileError::Crashed("the compiler left PTX that is not a text".to_owned())
        })?;
        let image = match machine_code {
            Some(image) if image.len() as u64 > GPU_IMAGE_BYTES_MAX => {
                return Err(CompileError::TooLarge(GPU_IMAGE_BYTES_MAX));
            }
            Some(image) if !image.starts_with(ELF) => {
                return Err(CompileError::Crashed("the compiler left no machine code".to_owned()));
            }
            Some(image) => image,
            None => ptx.clone().into_bytes(),
        };
        Ok(CudaArtifact {
            image,
            kernels: kernels::describe(&ptx, &said.uses)?,
            ptx,
            host_object: None,
            lowered_names: Vec::new(),
            log: said.log,
            toolchain,
            arch: arch.to_owned(),
            cached: false,
        })
    }
}

/// A whole `.cu` file; its host code is parsed, and left out.
pub(super) fn nvcc(
    context: &mut CompileContext<'_>,
    request: &CompileRequest,
    limits: BoxLimits,
) -> Result<CudaArtifact, CompileError> {
    let toolchain = nvcc::probe(context)?.name;
    let machine = is_machine(&request.arch);
    let (args, collect) = if machine {
        let args = ["-cubin", VERBOSE, "--keep", "--keep-dir", nvcc::OUT_FOLDER, "-o", CUBIN];
        (args.to_vec(), vec![nvcc::kept_ptx(&request.main.path), CUBIN.to_owned()])
    } else {
        (vec!["-ptx", "-o", PTX], vec![PTX.to_owned()])
    };
    let args = args.into_iter().map(str::to_owned).collect();
    let main = &request.main.path;
    let call = nvcc::NvccCall { request, limits, args, main, files: Vec::new(), collect };
    let mut left = nvcc::run(context, call)?;
    let machine_code = if machine { left.files.pop() } else { None };
    let ptx = left.files.pop().unwrap_or_default();
    DeviceCode { machine_code, ptx, said: left.said }.into_artifact(toolchain, &request.arch)
}

/// Kernels by the run-time compiler.
pub(super) fn nvrtc(
    context: &mut CompileContext<'_>,
    request: &CompileRequest,
    limits: BoxLimits,
) -> Result<CudaArtifact, CompileError> {
    let tool = probe(context)?;
    tool.takes(&request.arch)?;
    let machine = is_machine(&request.arch);
    let order = order(context, Some(source(context, request, machine)?))?;
    let answer = match compiled(context, request, &order, limits)? {
        Ok(answer) => answer,
        Err(_) => {
            // It could be loaded before. The machine is asked again, without the source: only if it can be loaded
            // still, the source has a hand in it.
            context.tools.nvrtc = None;
            probe(context)?;
            compiled(context, request, &order, limits)?.map_err(CompileError::Crashed)?
        }
    };
    let (machine_code, ptx, lowered_names, said) = match answer {
        NvrtcAnswer::Compiled { machine_code, ptx, lowered_names, log, log_cut } => {
            let mut said = CompilerLog::read(&log);
            said.log = context::capped(&said.log, log_cut);
            (machine_code, ptx, lowered_names, said)
        }
        NvrtcAnswer::Rejected { log, log_cut } => {
            return Err(CompileError::Rejected(context::capped(
                &CompilerLog::read(&log).log,
                log_cut,
            )));
        }
        NvrtcAnswer::OutOfMemory => return Err(CompileError::OutOfMemory),
        NvrtcAnswer::TooLarge => return Err(CompileError::TooLarge(GPU_IMAGE_BYTES_MAX)),
        NvrtcAnswer::Failed(what) => {
            return Err(CompileError::Crashed(context::capped(&what, false)));
        }
        NvrtcAnswer::Library { .. } => {
            return Err(CompileError::Crashed("the compiler left another answer".to_owned()));
        }
    };
    let code = DeviceCode { machine_code: machine.then_some(machine_code), ptx, said };
    let artifact = code.into_artifact(tool.name, &request.arch)?;
    if lowered_names.len() != request.name_expressions.len() {
        return Err(CompileError::Crashed("the compiler left names out".to_owned()));
    }
    for (name, expression) in lowered_names.iter().zip(&request.name_expressions) {
        if !artifact.kernels.iter().any(|kernel| kernel.name == *name) {
            return Err(CompileError::Rejected(format!("`{expression}` names no kernel")));
        }
    }
    Ok(CudaArtifact { lowered_names, ..artifact })
}

/// The answer about a source, or why the library cannot be used.
fn compiled(
    context: &mut CompileContext<'_>,
    request: &CompileRequest,
    order: &[u8],
    limits: BoxLimits,
) -> Result<Result<NvrtcAnswer, String>, CompileError> {
    let files = request
        .headers
        .iter()
        .map(|file| JobFile { path: &file.path, bytes: file.text.as_bytes(), executable: false })
        .collect();
    answer(&run(context, order, files, limits)?, &limits)
}

fn source(
    context: &CompileContext<'_>,
    request: &CompileRequest,
    machine_code: bool,
) -> Result<NvrtcSource, CompileError> {
    let mut options = request::options(request);
    options.push(format!("--pre-include={}", headers::PRELUDE));
    // Our headers and the toolkit's define some constants in two ways of writing.
    options.push("--diag-suppress=47".to_owned());
    if machine_code {
        options.push(VERBOSE.to_owned());
    }
    if let Some((folder, _)) = request.main.path.rsplit_once('/') {
        options.push(format!("-I{WORKING_FOLDER}/{folder}"));
    }
    options.push(format!("-I{WORKING_FOLDER}"));
    for folder in &context.toolkit.includes {
        options.push(format!("-I{}", utf8(folder)?));
    }
    let mut headers = headers::all(&request::definitions(&request.options));
    headers.retain(|(name, _)| request.headers.iter().all(|header| header.path != *name));
    Ok(NvrtcSource {
        name: request.main.path.clone(),
        text: request.main.text.clone(),
        headers,
        options,
        name_expressions: request.name_expressions.clone(),
        machine_code,
    })
}

fn order(
    context: &CompileContext<'_>,
    source: Option<NvrtcSource>,
) -> Result<Vec<u8>, CompileError> {
    let libraries = context.toolkit.libraries()?;
    let order = NvrtcRequest {
        builtins: utf8(&libraries.builtins)?.to_owned(),
        nvrtc: utf8(&libraries.nvrtc)?.to_owned(),
        source,
    };
    Ok(postcard::to_stdvec(&order).expect("plain data is encoded"))
}

/// Runs `assay-gpu nvrtc` over an order.
fn run(
    context: &mut CompileContext<'_>,
    order: &[u8],
    files: Vec<JobFile<'_>>,
    limits: BoxLimits,
) -> Result<JobEnd, CompileError> {
    if context.tools.own.is_none() {
        let program = &context.options.program;
        let own = fs::read(program).and_then(|bytes| sealed(&bytes));
        let failed = |error| CompileError::Unavailable(format!("{}: {error}", program.display()));
        context.tools.own = Some(own.map_err(failed)?);
    }
    let own = context.tools.own.take().expect("it was just made");
    let mut all = vec![JobFile { path: ORDER, bytes: order, executable: false }];
    all.extend(files);
    let job = BoxJob {
        purpose: Purpose::Compile,
        program: JobProgram::Sealed(own.as_fd()),
        args: ["assay-gpu", "nvrtc"].map(str::to_owned).into(),
        env: nvcc::environment(),
        files: all,
        stdin: &[],
        collect: vec![ANSWER.to_owned()],
        limits,
    };
    let ended = context.run(&job);
    context.tools.own = Some(own);
    ended
}

/// The answer, or why the library cannot be used.
fn answer(ended: &JobEnd, limits: &BoxLimits) -> Result<Result<NvrtcAnswer, String>, CompileError> {
    let log = context::log_of(ended, limits)?;
    match ended.ending {
        ProgramEnding::Exited(0) => {}
        ProgramEnding::Exited(NO_LIBRARY) => return Ok(Err(log)),
        ending => {
            return Err(CompileError::Crashed(with_log(&format!("it ended as {ending:?}"), &log)));
        }
    }
    let file = ended.files.iter().find(|(path, _)| path == ANSWER);
    let answer = file.and_then(|(_, file)| postcard::from_bytes(&file.data).ok());
    answer
        .map(Ok)
        .ok_or_else(|| CompileError::Crashed(with_log("the compiler left no answer", &log)))
}

/// The version of this library; asked once, before any source is compiled.
fn probe(context: &mut CompileContext<'_>) -> Result<CompilerInfo, CompileError> {
    if let Some(tool) = &context.tools.nvrtc {
        return Ok(tool.clone());
    }
    let order = order(context, None)?;
    let ended = run(context, &order, Vec::new(), BoxLimits::COMPILE)?;
    let unusable =
        |problem: String| CompileError::Unavailable(format!("NVRTC cannot be used: {problem}"));
    let answered =
        answer(&ended, &BoxLimits::COMPILE).map_err(|error| unusable(error.to_string()))?;
    let NvrtcAnswer::Library { version: (major, minor), archs } = answered.map_err(unusable)?
    else {
        return Err(unusable("it said nothing of itself".to_owned()));
    };
    let version = format!("{major}.{minor}");
    if version != context.toolkit.version {
        let expected = &context.toolkit.version;
        return Err(unusable(format!("it is of version {version}, the toolkit of {expected}")));
    }
    let archs = archs.into_iter().filter_map(|arch| u32::try_from(arch).ok()).collect();
    let tool = CompilerInfo { name: format!("nvrtc {version}"), archs };
    context.tools.nvrtc = Some(tool.clone());
    Ok(tool)
}

fn utf8(path: &Path) -> Result<&str, CompileError> {
    path.to_str().ok_or_else(|| {
        CompileError::Unavailable(format!("the path {} is not written in UTF-8", path.display()))
    })
}
