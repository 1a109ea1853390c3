//! Compiles one uploaded component. A refusal is a result, with exit status 0. Another status means that Assay failed,
//! or that the limits stopped a hostile upload.

use std::path::Path;

use anyhow::Context as _;
use assay_core::id::Digest;
use assay_core::limits;
use assay_core::plugin::Description;
use assay_sandbox::compile::{CompiledPlugin, PluginCompiler, UploadError};
use assay_sandbox::engine_id;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{SysconfVar, sysconf};
use serde::Serialize;

use crate::compiled_cache::CompiledCache;
use crate::environment;

/// The line that is printed.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum CompileOutput<'a> {
    Ok {
        digest: Digest,
        compiled_digest: Digest,
        engine: String,
        description: &'a Description,
        imports: &'a [String],
    },
    Refused {
        message: String,
    },
    /// The machine is too busy; the same upload may work later.
    Starved {
        message: String,
    },
}

pub(crate) fn run(component: &Path, out: &Path, cache: Option<&Path>) -> anyhow::Result<()> {
    environment::end_with_host()?;
    limit_processor_time()?;
    let bytes =
        std::fs::read(component).with_context(|| format!("reading {}", component.display()))?;
    let engine_id = engine_id();
    let cache = CompiledCache::open(cache);
    let compiler = PluginCompiler::reserve()?;
    limit_memory()?;
    let compiled = match cache {
        Some(cache) => cache.compile(&compiler, &bytes),
        None => compiler.compile(&bytes),
    };
    let report = match &compiled {
        Ok(compiled) => {
            std::fs::write(out, &compiled.bytes)
                .with_context(|| format!("writing {}", out.display()))?;
            describe(compiled, engine_id)
        }
        Err(UploadError::Refused(message)) => CompileOutput::Refused { message: message.clone() },
        Err(UploadError::Starved(message)) => CompileOutput::Starved { message: message.clone() },
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

fn describe(compiled: &CompiledPlugin, engine: String) -> CompileOutput<'_> {
    CompileOutput::Ok {
        digest: compiled.digest,
        compiled_digest: compiled.compiled_digest,
        engine,
        description: &compiled.description,
        imports: &compiled.imports,
    }
}

/// Has the kernel end the process by SIGXCPU: time in which a busy machine does not run it does not count.
fn limit_processor_time() -> anyhow::Result<()> {
    let seconds = limits::COMPILE_CPU_SECONDS_MAX;
    // A second later comes SIGKILL, if there is something that ignores the first signal.
    setrlimit(Resource::RLIMIT_CPU, seconds, seconds + 1).context("limiting the processor time")
}

/// Limits the address space to the reserved part plus the memory for compiling: the engine reserves far more for a
/// guest's memory than a guest may use.
fn limit_memory() -> anyhow::Result<()> {
    let statm = std::fs::read_to_string("/proc/self/statm").context("reading /proc/self/statm")?;
    let pages: u64 =
        statm.split(' ').next().context("an empty /proc/self/statm")?.parse().context("statm")?;
    let page_bytes = sysconf(SysconfVar::PAGE_SIZE)?.context("no page size")?;
    let reserved = pages * u64::try_from(page_bytes)?;
    let limit = reserved + limits::COMPILE_MEMORY_BYTES_MAX;
    setrlimit(Resource::RLIMIT_AS, limit, limit).context("limiting the address space")
}
