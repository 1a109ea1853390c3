//! Front-end `nvcc-host`: a source with host functions, linked with a recording CUDA runtime instead of
//! CUDA's own.
//!
//! The results are the device code, compiled in one pass with the host code so that both name the same kernels, and a
//! program that records the launches of a host function (`record`). That program contains the candidate's code, so its
//! output is never trusted.

mod object;
mod recorder;
mod unsupported;

use assay_core::limits::GPU_IMAGE_BYTES_MAX;
use assay_exec::job::Purpose;
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::ProgramEnding;
use assay_exec::{BoxJob, JobFile, JobProgram};

use super::context;
use super::device_code::{DeviceCode, VERBOSE, is_machine};
use super::nvcc::{self, NvccCall};
use super::request::arch_number;
use super::toolkit::HOST_COMPILER;
use super::{BuildOption, CompileContext, CompileError, CompileRequest, CudaArtifact};
pub(super) use object::HostObject;

/// The compiled file: it includes the request's main file and registers its entries.
const MAIN: &str = ".assay/entries.cu";
const OBJECT: &str = ".assay/entries.o";
const RECORDER: &str = ".assay/recorder.o";
const PROGRAM: &str = ".assay/program";

pub(super) fn compile(
    context: &mut CompileContext<'_>,
    request: &CompileRequest,
    limits: BoxLimits,
) -> Result<CudaArtifact, CompileError> {
    let toolchain = nvcc::probe(context)?.name;
    let request = &modern(request);
    let main = main_file(request);
    let mut files = recorder::headers();
    files.push(JobFile { path: MAIN, bytes: main.as_bytes(), executable: false });
    let ptx = nvcc::kept_ptx(MAIN);
    let mut collect = vec![ptx.clone(), OBJECT.to_owned()];
    let machine = is_machine(&request.arch);
    if machine {
        collect.push(ptx.replace(".ptx", &format!(".{}.cubin", request.arch)));
    }
    let args = arguments(machine);
    let call = NvccCall { request, limits, args, main: MAIN, files, collect };
    let mut left = nvcc::run(context, call).map_err(unsupported::named)?;
    let machine_code = if machine { left.files.pop() } else { None };
    let object = left.files.pop().unwrap_or_default();
    let ptx = left.files.pop().unwrap_or_default();
    let code = DeviceCode { machine_code, ptx, said: left.said };
    let artifact = code.into_artifact(toolchain, &request.arch)?;
    let host_object = HostObject {
        capability: arch_number(&request.arch)?,
        kernels: artifact.kernels.clone(),
        program: link(context, &object, limits).map_err(unsupported::named)?,
    };
    Ok(CudaArtifact { host_object: Some(host_object.encode()), ..artifact })
}

/// Our headers are written in the C++ that an older standard's sources are compiled as instead.
fn modern(request: &CompileRequest) -> CompileRequest {
    let mut request = request.clone();
    let old = |name: &str| ["c++11", "c++14"].contains(&name);
    request.options.retain(|option| !matches!(option, BuildOption::Std(name) if old(name)));
    request
}

fn arguments(machine: bool) -> Vec<String> {
    let mut args = vec!["-c", "-o", OBJECT, "--keep", "--keep-dir", nvcc::OUT_FOLDER];
    // The options with which PyTorch compiles extensions, and those that lambdas in them need.
    args.extend(["--expt-relaxed-constexpr", "--extended-lambda"]);
    args.extend(["-isystem", recorder::STAND_INS]);
    if machine {
        args.push(VERBOSE);
    }
    args.into_iter().map(str::to_owned).collect()
}

/// A module's functions are registered by the module itself, whatever they are called in C++.
fn main_file(request: &CompileRequest) -> String {
    let mut text = format!("#include \"../{}\"\n#include <recorder/entry.h>\n", request.main.path);
    let has_module =
        request.main.text.lines().any(|line| line.trim_start().starts_with("PYBIND11_MODULE"));
    if !has_module {
        for (number, entry) in request.entries.iter().enumerate() {
            text.push_str(&format!(
                "static const assay::Entry assay_entry_{number}(\"{entry}\", &{entry});\n"
            ));
        }
    }
    text
}

/// The program, of the candidate's object and the recorder. The recorder's functions win over those of
/// the candidate with the same name: a test harness has a `main` of its own.
fn link(
    context: &mut CompileContext<'_>,
    object: &[u8],
    limits: BoxLimits,
) -> Result<Vec<u8>, CompileError> {
    let recorder = match context.tools.recorder.take() {
        Some(recorder) => recorder,
        None => compile_recorder(context)?,
    };
    let args = [RECORDER, OBJECT, "-Wl,-z,muldefs", "-o", PROGRAM].map(str::to_owned).into();
    let files = [(RECORDER, recorder.as_slice()), (OBJECT, object)];
    let files = files.map(|(path, bytes)| JobFile { path, bytes, executable: false }).into();
    let program = run_host_compiler(context, args, files, PROGRAM, limits);
    context.tools.recorder = Some(recorder);
    program
}

/// The recorder's object. No source of a request has a hand in it, so that a failure is the worker's.
fn compile_recorder(context: &mut CompileContext<'_>) -> Result<Vec<u8>, CompileError> {
    let mut args = vec!["-std=c++17".to_owned()];
    for folder in &context.toolkit.includes {
        args.push(format!("-I{}", folder.display()));
    }
    args.extend(["-c", recorder::SOURCE, "-o", RECORDER].map(str::to_owned));
    let mut files = recorder::sources();
    let own_limits = recorder::limits();
    let own_limits = own_limits.as_bytes();
    files.push(JobFile { path: recorder::LIMITS, bytes: own_limits, executable: false });
    run_host_compiler(context, args, files, RECORDER, BoxLimits::COMPILE).map_err(|error| {
        match error {
            CompileError::Cancelled | CompileError::Unavailable(_) => error,
            _ => CompileError::Unavailable(format!("the recorder cannot be compiled: {error}")),
        }
    })
}

/// Runs the host's compiler in a box; returns the file that it leaves.
fn run_host_compiler(
    context: &mut CompileContext<'_>,
    args: Vec<String>,
    files: Vec<JobFile<'_>>,
    output: &str,
    limits: BoxLimits,
) -> Result<Vec<u8>, CompileError> {
    let job = BoxJob {
        purpose: Purpose::Compile,
        program: JobProgram::Path(HOST_COMPILER),
        args: std::iter::once(HOST_COMPILER.to_owned()).chain(args).collect(),
        env: nvcc::environment(),
        files,
        stdin: &[],
        collect: vec![output.to_owned()],
        limits,
    };
    let ended = context.run(&job)?;
    let log = context::log_of(&ended, &limits)?;
    if ended.ending != ProgramEnding::Exited(0) {
        return Err(CompileError::Rejected(log));
    }
    match ended.files.into_iter().next() {
        Some((_, content)) if content.data.len() as u64 > GPU_IMAGE_BYTES_MAX => {
            Err(CompileError::TooLarge(GPU_IMAGE_BYTES_MAX))
        }
        Some((_, content)) if !content.truncated => Ok(content.data),
        _ => Err(CompileError::Crashed("the host compiler left no file".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FrontEnd, TextFile};
    use super::*;

    fn request(text: &str) -> CompileRequest {
        CompileRequest {
            front_end: FrontEnd::NvccHost,
            arch: "sm_90".into(),
            main: TextFile { path: "a/main.cu".into(), text: text.into() },
            headers: vec![],
            options: vec![],
            name_expressions: vec![],
            entries: vec!["solve".into(), "forward".into()],
            cpu_ms: 0,
            memory_mib: 0,
        }
    }

    #[test]
    fn old_standards_are_left_to_the_default() {
        let with = |name: &str| {
            let options = vec![BuildOption::FastMath, BuildOption::Std(name.into())];
            modern(&CompileRequest { options, ..request("") }).options.len()
        };
        assert_eq!(["c++11", "c++14", "c++17", "c++20"].map(with), [1, 1, 2, 2]);
    }

    #[test]
    fn entries_are_registered_unless_a_module_does() {
        let text = main_file(&request("void solve();"));
        assert!(text.starts_with("#include \"../a/main.cu\"\n"));
        assert!(text.contains("assay_entry_0(\"solve\", &solve);\n"));
        assert!(text.contains("assay_entry_1(\"forward\", &forward);\n"));
        let text = main_file(&request("void solve();\n  PYBIND11_MODULE(x, m) {}"));
        assert!(text.contains("main.cu") && !text.contains("assay_entry"));
    }
}
