//! Kernels alone: by the run-time compiler, or by nvcc from a whole `.cu` file.

use std::fs;
use std::os::fd::AsFd as _;
use std::path::Path;

use assay_exec::job::{Purpose, WORKING_FOLDER};
use assay_exec::limits::Limits;
use assay_exec::outcome::Ending;
use assay_exec::{Ended, Job, JobFile, Program, sealed};
use assay_model::limits::GPU_IMAGE_BYTES_MAX;

use super::bench::{self, Tool, with_log};
use super::kernels::{self, Said};
use super::nvrtc::{ANSWER, Answer, NO_LIBRARY, ORDER, Order, Source};
use super::{Artifact, Bench, Error, Request, headers, nvcc, request};

/// The assembler's notes on each kernel, which [`Said`] reads.
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
    pub said: Said,
}

impl DeviceCode {
    /// Checks it: a compiler that was taken over may have left anything.
    pub fn into_artifact(self, toolchain: String, arch: &str) -> Result<Artifact, Error> {
        let Self { machine_code, ptx, said } = self;
        let ptx = String::from_utf8(ptx)
            .map_err(|_| Error::Crashed("the compiler left PTX that is no text".to_owned()))?;
        let image = match machine_code {
            Some(image) if image.len() as u64 > GPU_IMAGE_BYTES_MAX => {
                return Err(Error::TooLarge(GPU_IMAGE_BYTES_MAX));
            }
            Some(image) if !image.starts_with(ELF) => {
                return Err(Error::Crashed("the compiler left no machine code".to_owned()));
            }
            Some(image) => image,
            None => ptx.clone().into_bytes(),
        };
        Ok(Artifact {
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
    bench: &mut Bench<'_>,
    request: &Request,
    limits: Limits,
) -> Result<Artifact, Error> {
    let toolchain = nvcc::probe(bench)?.name;
    let machine = is_machine(&request.arch);
    let (args, collect) = if machine {
        let args = ["-cubin", VERBOSE, "--keep", "--keep-dir", nvcc::OUT_FOLDER, "-o", CUBIN];
        (args.to_vec(), vec![nvcc::kept_ptx(&request.main.path), CUBIN.to_owned()])
    } else {
        (vec!["-ptx", "-o", PTX], vec![PTX.to_owned()])
    };
    let args = args.into_iter().map(str::to_owned).collect();
    let main = &request.main.path;
    let call = nvcc::Call { request, limits, args, main, files: Vec::new(), collect };
    let mut left = nvcc::run(bench, call)?;
    let machine_code = if machine { left.files.pop() } else { None };
    let ptx = left.files.pop().unwrap_or_default();
    DeviceCode { machine_code, ptx, said: left.said }.into_artifact(toolchain, &request.arch)
}

/// Kernels by the run-time compiler.
pub(super) fn nvrtc(
    bench: &mut Bench<'_>,
    request: &Request,
    limits: Limits,
) -> Result<Artifact, Error> {
    let tool = probe(bench)?;
    tool.takes(&request.arch)?;
    let machine = is_machine(&request.arch);
    let order = order(bench, Some(source(bench, request, machine)?))?;
    let files = request
        .headers
        .iter()
        .map(|file| JobFile { path: &file.path, bytes: file.text.as_bytes(), executable: false })
        .collect();
    let ended = run(bench, &order, files, limits)?;
    let answer = match answer(&ended, &limits)? {
        Ok(answer) => answer,
        // It could be loaded before: now the source has a hand in it.
        Err(problem) => return Err(Error::Crashed(problem)),
    };
    let (machine_code, ptx, lowered_names, said) = match answer {
        Answer::Compiled { machine_code, ptx, lowered_names, log, log_cut } => {
            let mut said = Said::read(&log);
            said.log = bench::capped(&said.log, log_cut);
            (machine_code, ptx, lowered_names, said)
        }
        Answer::Rejected { log, log_cut } => {
            return Err(Error::Rejected(bench::capped(&Said::read(&log).log, log_cut)));
        }
        Answer::OutOfMemory => return Err(Error::OutOfMemory),
        Answer::TooLarge => return Err(Error::TooLarge(GPU_IMAGE_BYTES_MAX)),
        Answer::Failed(what) => return Err(Error::Crashed(bench::capped(&what, false))),
        Answer::Library { .. } => {
            return Err(Error::Crashed("the compiler left another answer".to_owned()));
        }
    };
    let code = DeviceCode { machine_code: machine.then_some(machine_code), ptx, said };
    let artifact = code.into_artifact(tool.name, &request.arch)?;
    if lowered_names.len() != request.name_expressions.len() {
        return Err(Error::Crashed("the compiler left names out".to_owned()));
    }
    for (name, expression) in lowered_names.iter().zip(&request.name_expressions) {
        if !artifact.kernels.iter().any(|kernel| kernel.name == *name) {
            return Err(Error::Rejected(format!("`{expression}` names no kernel")));
        }
    }
    Ok(Artifact { lowered_names, ..artifact })
}

fn source(bench: &Bench<'_>, request: &Request, machine_code: bool) -> Result<Source, Error> {
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
    for folder in &bench.toolkit.includes {
        options.push(format!("-I{}", utf8(folder)?));
    }
    let mut headers = headers::all(&request::definitions(&request.options));
    headers.retain(|(name, _)| request.headers.iter().all(|header| header.path != *name));
    Ok(Source {
        name: request.main.path.clone(),
        text: request.main.text.clone(),
        headers,
        options,
        name_expressions: request.name_expressions.clone(),
        machine_code,
    })
}

fn order(bench: &Bench<'_>, source: Option<Source>) -> Result<Vec<u8>, Error> {
    let libraries = bench.toolkit.libraries()?;
    let order = Order {
        builtins: utf8(&libraries.builtins)?.to_owned(),
        nvrtc: utf8(&libraries.nvrtc)?.to_owned(),
        source,
    };
    Ok(postcard::to_stdvec(&order).expect("plain data is encoded"))
}

/// Runs `assay-gpu nvrtc` over an order.
fn run(
    bench: &mut Bench<'_>,
    order: &[u8],
    files: Vec<JobFile<'_>>,
    limits: Limits,
) -> Result<Ended, Error> {
    if bench.tools.own.is_none() {
        let program = &bench.options.program;
        let own = fs::read(program).and_then(|bytes| sealed(&bytes));
        let failed = |error| Error::Unavailable(format!("{}: {error}", program.display()));
        bench.tools.own = Some(own.map_err(failed)?);
    }
    let own = bench.tools.own.take().expect("it was just made");
    let mut all = vec![JobFile { path: ORDER, bytes: order, executable: false }];
    all.extend(files);
    let job = Job {
        purpose: Purpose::Compile,
        program: Program::Sealed(own.as_fd()),
        args: ["assay-gpu", "nvrtc"].map(str::to_owned).into(),
        env: nvcc::environment(),
        files: all,
        stdin: &[],
        collect: vec![ANSWER.to_owned()],
        limits,
    };
    let ended = bench.run(&job);
    bench.tools.own = Some(own);
    ended
}

/// The answer, or why the library cannot be used.
fn answer(ended: &Ended, limits: &Limits) -> Result<Result<Answer, String>, Error> {
    let (text, truncated) = bench::text(&[&ended.stdout, &ended.stderr]);
    let log = bench::capped(&text, truncated);
    if let Some(fault) = bench::fault(ended, limits, &log) {
        return Err(fault);
    }
    match ended.ending {
        Ending::Exited(0) => {}
        Ending::Exited(NO_LIBRARY) => return Ok(Err(log)),
        ending => return Err(Error::Crashed(with_log(&format!("it ended as {ending:?}"), &log))),
    }
    let file = ended.files.iter().find(|(path, _)| path == ANSWER);
    let answer = file.and_then(|(_, file)| postcard::from_bytes(&file.data).ok());
    answer.map(Ok).ok_or_else(|| Error::Crashed(with_log("the compiler left no answer", &log)))
}

/// What this library is; asked once, and before any source can have a hand in it.
fn probe(bench: &mut Bench<'_>) -> Result<Tool, Error> {
    if let Some(tool) = &bench.tools.nvrtc {
        return Ok(tool.clone());
    }
    let order = order(bench, None)?;
    let ended = run(bench, &order, Vec::new(), Limits::COMPILE)?;
    let unusable = |problem: String| Error::Unavailable(format!("NVRTC cannot be used: {problem}"));
    let answered = answer(&ended, &Limits::COMPILE).map_err(|error| unusable(error.to_string()))?;
    let Answer::Library { version: (major, minor), archs } = answered.map_err(unusable)? else {
        return Err(unusable("it said nothing of itself".to_owned()));
    };
    let version = format!("{major}.{minor}");
    if version != bench.toolkit.version {
        let expected = &bench.toolkit.version;
        return Err(unusable(format!("it is of version {version}, the toolkit of {expected}")));
    }
    let archs = archs.into_iter().filter_map(|arch| u32::try_from(arch).ok()).collect();
    let tool = Tool { name: format!("nvrtc {version}"), archs };
    bench.tools.nvrtc = Some(tool.clone());
    Ok(tool)
}

fn utf8(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| {
        Error::Unavailable(format!("the path {} is not written in UTF-8", path.display()))
    })
}
