//! Runs golden cases against a component on the author's own machine: real programs in real boxes,
//! and a local folder for storage.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use assay_sandbox::Sandbox;
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::folder::Folder;
use assay_sandbox::cases::Case;
use assay_sandbox::compile::Compiler;

use crate::programs;

/// An author's machine has one tenant.
const TENANT: &str = "00000000-0000-0000-0000-000000000000";

#[derive(clap::Args)]
pub(crate) struct Options {
    component: PathBuf,
    #[arg(required = true)]
    cases: Vec<PathBuf>,
    /// Folder whose folders are the storage roots that the plugin may read
    #[arg(long, value_name = "DIR")]
    storage: Option<PathBuf>,
    /// Where compiled programs are kept for the next time; nowhere unless given
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    programs: programs::Options,
}

/// Prints a line a case; fails when one of them differs.
pub(crate) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let component = &options.component;
    let bytes =
        std::fs::read(component).with_context(|| format!("reading {}", component.display()))?;
    let compiled = Compiler::reserve()?
        .compile(&bytes)
        .with_context(|| format!("{} is refused", component.display()))?;
    let sandbox = Sandbox::new()?;
    let plugin = sandbox.load(&compiled.bytes, compiled.compiled_digest)?;
    let temporary = tempfile::tempdir()?;
    let capabilities = plugin.asks().then(|| granted(options, temporary.path())).transpose()?;
    let mut failures = 0;
    for path in &options.cases {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let case = Case::parse(&text).map_err(anyhow::Error::msg);
        let case = case.with_context(|| format!("{} is no case", path.display()))?;
        match case.run(&sandbox, &plugin, &compiled.description, capabilities.as_ref()) {
            Ok(()) => println!("ok      {}", case.name),
            Err(problem) => {
                failures += 1;
                println!("FAILED  {}: {problem}", case.name);
            }
        }
    }
    println!("{} passed, {failures} failed", options.cases.len() - failures);
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn granted(options: &Options, temporary: &Path) -> anyhow::Result<Capabilities> {
    if let Some(storage) = &options.storage {
        ensure!(storage.is_dir(), "{} is no folder", storage.display());
    }
    let roots = options.storage.clone().unwrap_or_else(|| temporary.join("roots"));
    let cache = options.cache.as_deref().unwrap_or(temporary);
    // Every stage runs here, whatever its pool.
    let programs = options.programs.open("gpu", cache)?;
    Ok(Capabilities {
        tenant: TENANT.parse().expect("a tenant id"),
        exec: programs.exec,
        toolchains: None,
        storage: Arc::new(Folder::new(roots, programs.objects)),
        compiler: programs.compiler,
        device: programs.device,
    })
}
