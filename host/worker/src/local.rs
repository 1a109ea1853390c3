//! A component on its author's machine, with the machine's boxes for programs and a local folder for storage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use assay_core::outbound::HostPattern;
use assay_sandbox::LoadedPlugin;
use assay_sandbox::Sandbox;
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::folder::FolderStorage;
use assay_sandbox::capability::http::Outbound;
use assay_sandbox::compile::CompiledPlugin;
use assay_sandbox::pipeline::LocalPipeline;

use crate::compiled_cache::CachingCompiler;
use crate::programs;

/// The one tenant of an author's machine.
const TENANT: &str = "00000000-0000-0000-0000-000000000000";

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct LocalOptions {
    /// Component (.wasm)
    component: PathBuf,
    /// Folder whose folders are the storage roots that the plugin may read
    #[arg(long, value_name = "DIR")]
    storage: Option<PathBuf>,
    /// Hosts that the plugin may send requests to, as in a tenant's grant; none unless given
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    hosts: Vec<HostPattern>,
    /// Folder of this user alone with compiled code to use again; nothing is kept unless given
    #[arg(long, value_name = "DIR")]
    compiled: Option<PathBuf>,
    /// Folder for compiled programs [default: none is kept]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    programs: programs::ProgramOptions,
}

/// A component that is ready to run, with the capabilities that it imports.
pub(crate) struct Local {
    sandbox: Sandbox,
    plugin: LoadedPlugin,
    pub(crate) compiled: CompiledPlugin,
    capabilities: Option<Capabilities>,
    /// The folder for files of this process alone; deleted with the value.
    _temporary: tempfile::TempDir,
}

impl LocalOptions {
    pub(crate) fn open(&self) -> anyhow::Result<Local> {
        let component = &self.component;
        let bytes =
            std::fs::read(component).with_context(|| format!("reading {}", component.display()))?;
        let compiled = CachingCompiler::open(self.compiled.as_deref())?.compile(&bytes);
        let compiled = compiled.with_context(|| format!("{} is refused", component.display()))?;
        let sandbox = Sandbox::new()?;
        let plugin = sandbox.load(&compiled.bytes, compiled.compiled_digest)?;
        let temporary = tempfile::tempdir()?;
        let capabilities = plugin.asks().then(|| self.granted(temporary.path())).transpose()?;
        Ok(Local { sandbox, plugin, compiled, capabilities, _temporary: temporary })
    }

    fn granted(&self, temporary: &Path) -> anyhow::Result<Capabilities> {
        if let Some(storage) = &self.storage {
            ensure!(storage.is_dir(), "{} is not a folder", storage.display());
        }
        let roots = self.storage.clone().unwrap_or_else(|| temporary.join("roots"));
        let cache = self.cache.as_deref().unwrap_or(temporary);
        // Every stage runs here, whatever its pool.
        let programs = self.programs.open(1, cache)?;
        Ok(Capabilities {
            tenant: TENANT.parse().expect("a tenant id"),
            exec: programs.exec,
            toolchains: None,
            storage: Arc::new(FolderStorage::new(roots, programs.objects)),
            compiler: programs.compiler,
            device: programs.device,
            network: programs.network,
            outbound: Arc::new(Outbound { hosts: self.hosts.clone(), ..Outbound::default() }),
        })
    }
}

impl Local {
    pub(crate) fn pipeline(&self) -> LocalPipeline<'_> {
        LocalPipeline {
            sandbox: &self.sandbox,
            plugin: &self.plugin,
            description: &self.compiled.description,
            capabilities: self.capabilities.as_ref(),
            time_max: None,
        }
    }
}
