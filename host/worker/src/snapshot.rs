//! Makes the component of a Python plugin from one that has the interpreter alone, for the builder of the SDK: the
//! component that is given describes itself beside the author's folders, and its memory is kept.
//!
//! The components are the author's own. A server does not run this.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assay_sandbox::snapshot::{Folder, Measurable};

use crate::compiled_cache::CachingCompiler;
use crate::environment;

#[derive(clap::Args)]
pub(crate) struct SnapshotOptions {
    component: PathBuf,
    /// Where to write the component
    #[arg(long)]
    out: PathBuf,
    /// Folder that the component sees, and the name under which it does
    #[arg(long = "folder", value_name = "NAME=DIR", value_parser = folder)]
    folders: Vec<(String, PathBuf)>,
    /// Folder of this user alone with compiled code to use again; nothing is kept unless given
    #[arg(long, value_name = "DIR")]
    compiled: Option<PathBuf>,
}

fn folder(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("it is not NAME=DIR")?;
    Ok((name.to_owned(), path.into()))
}

pub(crate) fn run(options: &SnapshotOptions) -> anyhow::Result<()> {
    environment::end_with_host()?;
    let component = &options.component;
    let bytes =
        std::fs::read(component).with_context(|| format!("reading {}", component.display()))?;
    let measurable = Measurable::new(bytes)?;
    let caching = CachingCompiler::open(options.compiled.as_deref())?;
    let (digest, code) = caching.compile_alone(measurable.component())?;
    let folders: Vec<_> =
        options.folders.iter().map(|(name, path)| Folder { path, name }).collect();
    let result = caching.compiler.snapshot(&measurable, &code, digest, &folders)?;
    write(&options.out, &result)
}

fn write(out: &Path, component: &[u8]) -> anyhow::Result<()> {
    std::fs::write(out, component).with_context(|| format!("writing {}", out.display()))
}
