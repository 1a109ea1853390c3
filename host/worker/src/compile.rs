//! Compiles one uploaded component. A refusal is a result, with exit status 0, and so is a machine that is short of
//! something. Another status means that Assay failed, or that the limits stopped a hostile upload.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use assay_core::architecture::Architecture;
use assay_core::compilation::{CodeReport, CompileReport, PluginReport};
use assay_core::id::Digest;
use assay_core::limits;
use assay_sandbox::compile::{CompiledPlugin, UploadError};
use assay_sandbox::{CrossCompiler, NoCrossCompiler, NotStarted, engine_id};
use nix::errno::Errno;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{SysconfVar, sysconf};
use serde::Serialize;

use crate::compiled_cache::CachingCompiler;
use crate::environment;

/// The places of the address space and of the memory in `/proc/self/statm`.
const RESERVED: usize = 0;
const RESIDENT: usize = 1;
/// The pause between two looks at the memory.
const MEMORY_LOOK: Duration = Duration::from_millis(10);

/// The errors by which the kernel says that the machine has no process, memory, file or disk space left.
const SHORTAGES: [Errno; 6] =
    [Errno::EAGAIN, Errno::ENOMEM, Errno::EMFILE, Errno::ENFILE, Errno::ENOSPC, Errno::EDQUOT];

/// Code that a component was compiled to before.
pub(crate) struct KnownCode {
    pub file: PathBuf,
    pub digest: Digest,
}

pub(crate) fn run(
    component: &Path,
    out: &Path,
    cache: Option<&Path>,
    known: Option<KnownCode>,
) -> anyhow::Result<()> {
    compile(component, out, cache, known).or_else(tell_shortage)
}

fn compile(
    component: &Path,
    out: &Path,
    cache: Option<&Path>,
    known: Option<KnownCode>,
) -> anyhow::Result<()> {
    let bytes = begin(component)?;
    let engine = engine_id();
    let known = known.map(|KnownCode { file, digest }| {
        let code = std::fs::read(&file);
        code.with_context(|| format!("reading {}", file.display())).map(|code| (code, digest))
    });
    let known = known.transpose()?;
    let caching = CachingCompiler::open(cache)?;
    let report = limited()?;
    let recall = |(code, digest)| caching.compiler.recall(&bytes, code, digest);
    let known = known.and_then(recall);
    let recalled = known.is_some();
    let compiled = known.unwrap_or_else(|| caching.compile(&bytes));
    let output = match compiled {
        Ok(compiled) => {
            write(out, &compiled.bytes)?;
            CompileReport::Ok(describe(compiled, engine, recalled))
        }
        Err(error) => not_compiled(error),
    };
    report.print(&output)
}

/// Compiles for machines of an architecture, under the same limits.
pub(crate) fn run_cross(
    component: &Path,
    out: &Path,
    architecture: Architecture,
) -> anyhow::Result<()> {
    cross_compile(component, out, architecture).or_else(tell_shortage)
}

fn cross_compile(component: &Path, out: &Path, architecture: Architecture) -> anyhow::Result<()> {
    let bytes = begin(component)?;
    let compiler = CrossCompiler::reserve(architecture)?;
    let engine = compiler.engine_id();
    let report = limited()?;
    let output = match compiler.compile(&bytes) {
        Ok(code) => {
            write(out, &code)?;
            CompileReport::Ok(CodeReport { compiled_digest: Digest::of(&code), engine })
        }
        Err(error) => not_compiled(error),
    };
    report.print(&output)
}

/// Limits the processor time, and reads the component.
fn begin(component: &Path) -> anyhow::Result<Vec<u8>> {
    environment::end_with_host()?;
    limit_processor_time()?;
    std::fs::read(component).with_context(|| format!("reading {}", component.display()))
}

/// Limits the memory, once the compiler has reserved its own.
fn limited() -> anyhow::Result<Report> {
    limit_memory()?;
    let report = Report::default();
    watch_memory(&report)?;
    Ok(report)
}

fn write(out: &Path, code: &[u8]) -> anyhow::Result<()> {
    std::fs::write(out, code).with_context(|| format!("writing {}", out.display()))
}

/// Reports a failure as the machine's, where that is short of something: the same upload may work later.
fn tell_shortage(error: anyhow::Error) -> anyhow::Result<()> {
    let Some(shortage) = error.chain().find_map(shortage) else { return Err(error) };
    let message = format!("the machine could not compile the plugin: {shortage}");
    Report::default().print(&CompileReport::<()>::Starved { message })
}

/// The machine's shortage that is this cause of a failure, if it is one.
fn shortage(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    let not_compiling = cause.downcast_ref();
    let is_start = matches!(not_compiling, Some(NoCrossCompiler::NotStarted(_)));
    if is_start || cause.is::<NotStarted>() {
        return Some(cause.to_string());
    }
    let errno = cause.downcast_ref::<io::Error>()?.raw_os_error().map(Errno::from_raw)?;
    SHORTAGES.contains(&errno).then(|| errno.desc().to_owned())
}

/// The one report that is printed: the first.
#[derive(Clone, Default)]
struct Report(Arc<OnceLock<()>>);

impl Report {
    fn print<T: Serialize>(&self, output: &CompileReport<T>) -> anyhow::Result<()> {
        let line = serde_json::to_string(output)?;
        self.0.get_or_init(|| println!("{line}"));
        Ok(())
    }
}

fn describe(compiled: CompiledPlugin, engine: String, recalled: bool) -> PluginReport {
    PluginReport {
        digest: compiled.digest,
        code: CodeReport { compiled_digest: compiled.compiled_digest, engine },
        description: compiled.description,
        imports: compiled.imports,
        recalled,
    }
}

fn not_compiled<T>(error: UploadError) -> CompileReport<T> {
    match error {
        UploadError::Refused(message) => CompileReport::Refused { message },
        UploadError::Starved(message) => CompileReport::Starved { message },
    }
}

/// Has the kernel end the process by SIGXCPU: time in which a busy machine does not run it does not count.
fn limit_processor_time() -> anyhow::Result<()> {
    let seconds = limits::COMPILE_CPU_SECONDS_MAX;
    // A second later comes SIGKILL, if there is something that ignores the first signal.
    setrlimit(Resource::RLIMIT_CPU, seconds, seconds + 1).context("limiting the processor time")
}

/// Ends the process with a refusal once it has more memory than a compilation may use. The kernel has no limit of its own
/// on the memory of one process, other than on its address space. A machine without memory ends this process first.
fn watch_memory(report: &Report) -> anyhow::Result<()> {
    // Where it cannot be set, the kernel may choose another process.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let report = report.clone();
    let page_bytes = page_bytes()?;
    let watch = move || {
        let max = limits::COMPILE_RESIDENT_BYTES_MAX;
        while pages(RESIDENT).is_ok_and(|pages| pages * page_bytes <= max) {
            std::thread::sleep(MEMORY_LOOK);
        }
        let message = format!(
            "compiling the plugin takes more than {} GiB of memory: a function of it is too large or has too many \
             variables; split it, or build it with less inlining",
            max >> 30
        );
        // Nothing is left to do when the report cannot be printed.
        let _ = report.print(&CompileReport::<()>::Refused { message });
        std::process::exit(0);
    };
    std::thread::Builder::new()
        .name("memory".into())
        .spawn(watch)
        .context("watching the memory")?;
    Ok(())
}

/// Limits the address space to the reserved part plus the memory for compiling: the engine reserves far more for a
/// guest's memory than a guest may use.
fn limit_memory() -> anyhow::Result<()> {
    let reserved = pages(RESERVED)? * page_bytes()?;
    let limit = reserved + limits::COMPILE_MEMORY_BYTES_MAX;
    setrlimit(Resource::RLIMIT_AS, limit, limit).context("limiting the address space")
}

/// A number of `/proc/self/statm`, which are all in pages.
fn pages(place: usize) -> anyhow::Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").context("reading /proc/self/statm")?;
    statm.split(' ').nth(place).context("a short /proc/self/statm")?.parse().context("statm")
}

fn page_bytes() -> anyhow::Result<u64> {
    let bytes = sysconf(SysconfVar::PAGE_SIZE)?.context("no page size")?;
    Ok(u64::try_from(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_the_machines() {
        let full = io::Error::from_raw_os_error(Errno::ENOSPC as i32);
        let told = anyhow::Error::from(full).context("writing /a/folder/compiled");
        assert_eq!(told.chain().find_map(shortage).as_deref(), Some("No space left on device"));
        let none = io::Error::from_raw_os_error(Errno::ENOENT as i32);
        assert_eq!(anyhow::Error::from(none).chain().find_map(shortage), None);
    }
}
