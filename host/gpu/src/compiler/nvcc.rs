//! `nvcc` in a box: a driver that starts preprocessor, compilers and assembler.

use assay_exec::job::{Purpose, WORKING_FOLDER};
use assay_exec::limits::Limits;
use assay_exec::outcome::Ending;
use assay_exec::{Job, JobFile, Program};

use super::bench::{self, FILE_TOO_LARGE, Tool, with_log};
use super::kernels::Said;
use super::toolkit::{HOST_COMPILER, Installed};
use super::{Bench, Error, Request, request};

/// Where nvcc leaves what is to be collected, as the request's files have all other names.
pub(crate) const OUT_FOLDER: &str = request::OWN_FOLDER;
const DEFINITIONS: &str = ".assay/definitions.h";

/// A call of nvcc over a request's files, with the options that the request asks for.
pub(crate) struct Call<'a> {
    pub request: &'a Request,
    pub limits: Limits,
    /// Such as `-cubin`; the main file follows.
    pub args: Vec<String>,
    /// The request's, or one of `files`.
    pub main: &'a str,
    /// Beside the request's.
    pub files: Vec<JobFile<'a>>,
    pub collect: Vec<String>,
}

/// What a compilation left.
#[derive(Debug)]
pub(crate) struct Left {
    /// In the order in which they were asked for.
    pub files: Vec<Vec<u8>>,
    pub said: Said,
}

/// Runs it. A compilation that ends well has left all files.
pub(crate) fn run(bench: &mut Bench<'_>, call: Call<'_>) -> Result<Left, Error> {
    let request = call.request;
    probe(bench)?.takes(&request.arch)?;
    let mut args = request::options(request);
    // Kernels may call `std::max` and its like, as with the run-time compiler.
    args.push("--expt-relaxed-constexpr".to_owned());
    args.extend(call.args);
    // Whatever the main file's name ends in.
    args.extend(["-include", DEFINITIONS, "-I.", "-x", "cu", call.main].map(str::to_owned));
    let definitions = request::definitions(&request.options);
    let sources = std::iter::once(&request.main).chain(&request.headers);
    let mut files: Vec<JobFile<'_>> = sources
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .chain([(DEFINITIONS, definitions.as_str())])
        .map(|(path, text)| JobFile { path, bytes: text.as_bytes(), executable: false })
        .collect();
    files.extend(call.files);
    let job = Job { files, collect: call.collect, ..job(bench.toolkit, args, call.limits)? };
    let ended = bench.run(&job)?;
    let (text, truncated) = bench::text(&[&ended.stdout, &ended.stderr]);
    let mut said = Said::read(&text);
    said.log = bench::capped(&said.log, truncated);
    if let Some(fault) = bench::fault(&ended, &job.limits, &said.log) {
        return Err(fault);
    }
    if ended.ending != Ending::Exited(0) {
        return Err(failed(said.log, job.limits.disk_bytes));
    }
    let mut left = Vec::new();
    for wanted in &job.collect {
        let found = ended.files.iter().find(|(path, _)| path == wanted);
        let (_, content) =
            found.ok_or_else(|| Error::Crashed(with_log("nvcc left nothing", &said.log)))?;
        if content.truncated {
            return Err(Error::TooLarge(job.limits.disk_bytes));
        }
        left.push(content.data.clone());
    }
    Ok(Left { files: left, said })
}

/// A failure of a source, or of a compiler over a source.
fn failed(log: String, disk_bytes: u64) -> Error {
    let died = log.lines().find_map(|line| {
        let rest = line.strip_prefix("nvcc error")?.split_once("died due to signal ")?.1;
        rest.split(' ').next()?.parse::<i32>().ok()
    });
    match died {
        Some(FILE_TOO_LARGE) => Error::TooLarge(disk_bytes),
        Some(signal) => Error::Crashed(with_log(&format!("signal {signal}"), &log)),
        None => Error::Rejected(log),
    }
}

fn job<'a>(toolkit: &'a Installed, args: Vec<String>, limits: Limits) -> Result<Job<'a>, Error> {
    let program = toolkit.driver()?;
    let first = [program, "-ccbin", HOST_COMPILER].map(str::to_owned);
    Ok(Job {
        purpose: Purpose::Compile,
        program: Program::Path(program),
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

/// What this nvcc is; asked once.
pub(crate) fn probe(bench: &mut Bench<'_>) -> Result<Tool, Error> {
    if let Some(tool) = &bench.tools.nvcc {
        return Ok(tool.clone());
    }
    // `Cuda compilation tools, release 13.0, V13.0.88`
    let version = answer(bench, "--version")?;
    let version = version.split_once(", V").map_or("", |(_, rest)| rest);
    let version = version.split_whitespace().next().unwrap_or_default();
    let archs = answer(bench, "--list-gpu-arch")?;
    let archs = archs.lines().filter_map(|line| line.strip_prefix("compute_")?.trim().parse().ok());
    let tool = Tool { name: format!("nvcc {version}"), archs: archs.collect() };
    bench.tools.nvcc = Some(tool.clone());
    Ok(tool)
}

fn answer(bench: &mut Bench<'_>, option: &str) -> Result<String, Error> {
    let job = job(bench.toolkit, vec![option.to_owned()], Limits::COMPILE)?;
    let ended = bench.run(&job)?;
    let (text, _) = bench::text(&[&ended.stdout, &ended.stderr]);
    match ended.ending {
        Ending::Exited(0) => Ok(text),
        // No source had a hand in it.
        ending => Err(Error::Unavailable(format!("`nvcc {option}` ended as {ending:?}: {text}"))),
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
        assert_eq!(failed(said.clone(), 7), Error::Rejected(said));
        assert_eq!(failed(died(25), 7), Error::TooLarge(7));
        assert_eq!(failed(died(11), 7), Error::Crashed(format!("signal 11\n{}", died(11))));
    }

    #[test]
    fn where_the_ptx_lies() {
        assert_eq!(kept_ptx("a/main.cu"), ".assay/main.ptx");
        assert_eq!(kept_ptx("main"), ".assay/main.ptx");
    }
}
