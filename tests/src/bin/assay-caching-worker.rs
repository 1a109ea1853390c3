//! The worker program as `make test` has servers start it: what was compiled once is remembered, for the
//! tests publish the same few plugins hundreds of times, and a debug build takes seconds for each. A worker program
//! that was built anew describes them anew, with the code that an earlier one compiled. In everything else it becomes
//! the real worker program, which lies beside it.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use assay_core::id::Digest;

fn main() -> anyhow::Result<()> {
    let this = std::env::current_exe()?;
    let worker = this.with_file_name("assay-worker");
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let [verb, component, option, out] = arguments.as_slice()
        && verb == "compile"
        && option == "--out"
    {
        return compile(&worker, component.as_ref(), out.as_ref());
    }
    Err(Command::new(&worker).args(arguments).exec()).with_context(|| worker.display().to_string())
}

fn compile(worker: &Path, component: &Path, out: &Path) -> anyhow::Result<()> {
    let known = place(worker, component)?;
    // Servers that compile the same component at the same time wait for the first. A server of another user
    // cannot write here, and gets no turn.
    let _turn = turn(&known).ok();
    if let Ok(report) = fs::read(known.join("report"))
        && fs::copy(known.join("compiled"), out).is_ok()
    {
        return Ok(std::io::stdout().write_all(&report)?);
    }
    let code = folder_of(worker, "compiled-code")?;
    let mut command = Command::new(worker);
    command.arg("compile").arg(component).arg("--out").arg(out).arg("--compiled").arg(code);
    let ended = command.output()?;
    std::io::stdout().write_all(&ended.stdout)?;
    std::io::stderr().write_all(&ended.stderr)?;
    if !ended.status.success() {
        std::process::exit(ended.status.code().unwrap_or(1));
    }
    if out.is_file() {
        let _ = remember(&known, &ended.stdout, out);
    }
    Ok(())
}

/// Where it is remembered what this worker program makes of a component.
fn place(worker: &Path, component: &Path) -> anyhow::Result<PathBuf> {
    let built = fs::metadata(worker)?;
    let build = format!("{}.{:09}-{}", built.mtime(), built.mtime_nsec(), built.size());
    let digest = Digest::of(&fs::read(component)?);
    Ok(folder_of(worker, "compiled-plugins")?.join(build).join(digest.to_string()))
}

/// A folder that outlasts worker programs.
fn folder_of(worker: &Path, name: &str) -> anyhow::Result<PathBuf> {
    Ok(worker.ancestors().nth(2).context("it lies in target/<profile>")?.join(name))
}

/// Held by whoever compiles this component.
fn turn(known: &Path) -> std::io::Result<fs::File> {
    if let [_, build, all] = known.ancestors().take(3).collect::<Vec<_>>()[..]
        && !build.exists()
    {
        // This is what worker programs made that were replaced.
        let _ = fs::remove_dir_all(all);
        fs::create_dir_all(build)?;
    }
    let file = fs::File::create(known.with_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

fn remember(known: &Path, report: &[u8], out: &Path) -> std::io::Result<()> {
    let fresh = known.with_extension(std::process::id().to_string());
    fs::create_dir_all(&fresh)?;
    fs::write(fresh.join("report"), report)?;
    fs::copy(out, fresh.join("compiled"))?;
    // Fails where somebody else was faster.
    fs::rename(&fresh, known).or_else(|_| fs::remove_dir_all(&fresh))
}
