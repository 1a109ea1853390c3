//! A component on its author's own machine: real programs in real boxes, and a local folder for
//! storage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use assay_model::outbound::HostPattern;
use assay_sandbox::Loaded;
use assay_sandbox::Sandbox;
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::folder::Folder;
use assay_sandbox::capability::http::Outbound;
use assay_sandbox::compile::{Compiled, Compiler};
use assay_sandbox::whole::Whole;

use crate::programs;

/// An author's machine has one tenant.
const TENANT: &str = "00000000-0000-0000-0000-000000000000";

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    component: PathBuf,
    /// Folder whose folders are the storage roots that the plugin may read
    #[arg(long, value_name = "DIR")]
    storage: Option<PathBuf>,
    /// Hosts that the plugin may send requests to, as in a tenant's grant; none unless given
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    hosts: Vec<HostPattern>,
    /// Where compiled programs are kept for the next time; nowhere unless given
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    programs: programs::Options,
}

/// A component that is ready to run, with what it asks for.
pub(crate) struct Local {
    sandbox: Sandbox,
    plugin: Loaded,
    pub(crate) compiled: Compiled,
    capabilities: Option<Capabilities>,
    /// Where programs leave what is kept for this process alone.
    _temporary: tempfile::TempDir,
}

impl Options {
    pub(crate) fn open(&self) -> anyhow::Result<Local> {
        let component = &self.component;
        let bytes =
            std::fs::read(component).with_context(|| format!("reading {}", component.display()))?;
        let compiled = Compiler::reserve()?
            .compile(&bytes)
            .with_context(|| format!("{} is refused", component.display()))?;
        let sandbox = Sandbox::new()?;
        let plugin = sandbox.load(&compiled.bytes, compiled.compiled_digest)?;
        let temporary = tempfile::tempdir()?;
        let capabilities = plugin.asks().then(|| self.granted(temporary.path())).transpose()?;
        Ok(Local { sandbox, plugin, compiled, capabilities, _temporary: temporary })
    }

    fn granted(&self, temporary: &Path) -> anyhow::Result<Capabilities> {
        if let Some(storage) = &self.storage {
            ensure!(storage.is_dir(), "{} is no folder", storage.display());
        }
        let roots = self.storage.clone().unwrap_or_else(|| temporary.join("roots"));
        let cache = self.cache.as_deref().unwrap_or(temporary);
        // Every stage runs here, whatever its pool.
        let programs = self.programs.open("gpu", cache)?;
        Ok(Capabilities {
            tenant: TENANT.parse().expect("a tenant id"),
            exec: programs.exec,
            toolchains: None,
            storage: Arc::new(Folder::new(roots, programs.objects)),
            compiler: programs.compiler,
            device: programs.device,
            network: programs.network,
            outbound: Arc::new(Outbound { hosts: self.hosts.clone(), secrets: Vec::new() }),
        })
    }
}

impl Local {
    pub(crate) fn whole(&self) -> Whole<'_> {
        Whole {
            sandbox: &self.sandbox,
            plugin: &self.plugin,
            description: &self.compiled.description,
            capabilities: self.capabilities.as_ref(),
        }
    }
}
