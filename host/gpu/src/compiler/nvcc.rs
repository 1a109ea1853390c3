//! `nvcc` in a box: a driver that starts preprocessor, compilers and assembler.

use assay_exec::job::{Purpose, WORKING_FOLDER};
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::ProgramEnding;
use assay_exec::{BoxJob, JobFile, JobProgram};

use super::context::{self, CompilerInfo, FILE_TOO_LARGE, with_log};
use super::kernels::CompilerLog;
use super::toolkit::{HOST_COMPILER, Installed};
use super::{CompileContext, CompileError, CompileRequest, request};

/// The folder for nvcc's output; no file of a request may be in it.
pub(crate) const OUT_FOLDER: &str = request::OWN_FOLDER;
const DEFINITIONS: &str = ".assay/definitions.h";

/// A call of nvcc over a request's files, with the options that the request asks for.
pub(crate) struct NvccCall<'a> {
    pub request: &'a CompileRequest,
    pub limits: BoxLimits,
    /// The arguments before the main file, such as `-cubin`.
    pub args: Vec<String>,
    /// The main file: the request's, or one of `files`.
    pub main: &'a str,
    /// The files in addition to the request's.
    pub files: Vec<JobFile<'a>>,
    pub collect: Vec<String>,
}

/// The output of a compilation.
#[derive(Debug)]
pub(crate) struct NvccOutput {
    /// The collected files, in the order of the request.
    pub files: Vec<Vec<u8>>,
    pub said: CompilerLog,
}

/// Runs nvcc. A compilation that succeeds returns all files.
pub(crate) fn run(
    context: &mut CompileContext<'_>,
    call: NvccCall<'_>,
) -> Result<NvccOutput, CompileError> {
    let request = call.request;
    probe(context)?.takes(&request.arch)?;
    let mut args = request::options(request);
    // Kernels may call `std::max` and its like, as with the run-time compiler.
    args.push("--expt-relaxed-constexpr".to_owned());
    args.extend(call.args);
    // The language is named, whatever the main file's name ends in.
    args.extend(["-include", DEFINITIONS, "-I.", "-x", "cu", call.main].map(str::to_owned));
    let definitions = request::definitions(&request.options);
    let sources = std::iter::once(&request.main).chain(&request.headers);
    let mut files: Vec<JobFile<'_>> = sources
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .chain([(DEFINITIONS, definitions.as_str())])
        .map(|(path, text)| JobFile { path, bytes: text.as_bytes(), executable: false })
        .collect();
    files.extend(call.files);
    let job = BoxJob { files, collect: call.collect, ..job(context.toolkit, args, call.limits)? };
    let ended = context.run(&job)?;
    let (text, truncated) = context::text(&[&ended.stdout, &ended.stderr]);
    let mut said = CompilerLog::read(&text);
    said.log = context::capped(&said.log, truncated);
    if let Some(fault) = context::fault(&ended, &job.limits, &said.log) {
        return Err(fault);
    }
    if ended.ending != ProgramEnding::Exited(0) {
        return Err(failed(said.log, job.limits.disk_bytes));
    }
    let mut left = Vec::new();
    for wanted in &job.collect {
        let found = ended.files.iter().find(|(path, _)| path == wanted);
        let (_, content) =
            found.ok_or_else(|| CompileError::Crashed(with_log("nvcc left nothing", &said.log)))?;
        if content.truncated {
            return Err(CompileError::TooLarge(job.limits.disk_bytes));
        }
        left.push(content.data.clone());
    }
    Ok(NvccOutput { files: left, said })
}

/// A failure of a source, or of a compiler over a source.
fn failed(log: String, disk_bytes: u64) -> CompileError {
    let died = log.lines().find_map(|line| {
        let rest = line.strip_prefix("nvcc error")?.split_once("died due to signal ")?.1;
        rest.split(' ').next()?.parse::<i32>().ok()
    });
    match died {
        Some(FILE_TOO_LARGE) => CompileError::TooLarge(disk_bytes),
        Some(signal) => CompileError::Crashed(with_log(&format!("signal {signal}"), &log)),
        None => CompileError::Rejected(log),
    }
}

fn job<'a>(
    toolkit: &'a Installed,
    args: Vec<String>,
    limits: BoxLimits,
) -> Result<BoxJob<'a>, CompileError> {
    let program = toolkit.driver()?;
    let first = [program, "-ccbin", HOST_COMPILER].map(str::to_owned);
    Ok(BoxJob {
        purpose: Purpose::Compile,
        program: JobProgram::Path(program),
        args: first.into_iter().chain(args).collect(),
        env: environment(),
        files: Vec::new(),
        stdin: &[],
        collect: Vec::new(),
        limits,
    })
}

/// The whole environment of a box.
pub(crate) fn environment() -> Vec<(String, String)> {
    let variables = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", WORKING_FOLDER),
        ("TMPDIR", "/tmp"),
        ("LANG", "C.UTF-8"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// The version of this nvcc; it is asked once.
pub(crate) fn probe(context: &mut CompileContext<'_>) -> Result<CompilerInfo, CompileError> {
    if let Some(tool) = &context.tools.nvcc {
        return Ok(tool.clone());
    }
    // `Cuda compilation tools, release 13.0, V13.0.88`
    let version = answer(context, "--version")?;
    let version = version.split_once(", V").map_or("", |(_, rest)| rest);
    let version = version.split_whitespace().next().unwrap_or_default();
    let archs = answer(context, "--list-gpu-arch")?;
    let archs = archs.lines().filter_map(|line| line.strip_prefix("compute_")?.trim().parse().ok());
    let tool = CompilerInfo { name: format!("nvcc {version}"), archs: archs.collect() };
    context.tools.nvcc = Some(tool.clone());
    Ok(tool)
}

fn answer(context: &mut CompileContext<'_>, option: &str) -> Result<String, CompileError> {
    let job = job(context.toolkit, vec![option.to_owned()], BoxLimits::COMPILE)?;
    let ended = context.run(&job)?;
    let (text, _) = context::text(&[&ended.stdout, &ended.stderr]);
    match ended.ending {
        ProgramEnding::Exited(0) => Ok(text),
        // No source had a hand in it.
        ending => {
            Err(CompileError::Unavailable(format!("`nvcc {option}` ended as {ending:?}: {text}")))
        }
    }
}

/// Where nvcc leaves the PTX of a file when it keeps what is in between in `OUT_FOLDER`.
pub(crate) fn kept_ptx(main: &str) -> String {
    let name = main.rsplit('/').next().unwrap_or(main);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    format!("{OUT_FOLDER}/{stem}.ptx")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_failed() {
        let died = |signal| format!("nvcc error   : 'cicc' died due to signal {signal} (text)");
        let said = "main.cu(1): error".to_owned();
        assert_eq!(failed(said.clone(), 7), CompileError::Rejected(said));
        assert_eq!(failed(died(25), 7), CompileError::TooLarge(7));
        assert_eq!(failed(died(11), 7), CompileError::Crashed(format!("signal 11\n{}", died(11))));
    }

    #[test]
    fn where_the_ptx_lies() {
        assert_eq!(kept_ptx("a/main.cu"), ".assay/main.ptx");
        assert_eq!(kept_ptx("main"), ".assay/main.ptx");
    }
}
