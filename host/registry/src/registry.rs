//! Plugins that are ready to run: published, resolved by name, held in memory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use assay_core::architecture::Architecture;
use assay_core::id::{Digest, TenantId};
use assay_dispatch::{CompiledForms, Engines, ReadyPlugin, now};
use assay_storage::blob::{BlobError, BlobPieces, Blobs};
use assay_store::plugins::PluginRow;
use assay_store::{Store, StoreError};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::cases::{CaseRunner, CaseSettings};
use crate::compile::{CompileTurn, Compiler};
use crate::error::RegistryError;
use crate::reference::Reference;
use crate::validation::{Validation, Validations};

/// The number of ready plugins in memory; others are looked up again.
const READY_MAX: usize = 1_024;
/// The time for which a resolved reference is kept; another server's change is seen after it.
const RESOLVED_FOR: Duration = Duration::from_secs(2);

/// A plugin that a reference names, and the time at which it was resolved.
type Resolved = (Instant, Arc<ReadyPlugin>);

/// The operator's settings.
pub struct RegistrySettings {
    pub worker_program: PathBuf,
    /// A folder that is this server's alone.
    pub scratch: PathBuf,
    /// Architectures of workers, besides this machine's own, for which plugins are compiled.
    pub architectures: Vec<Architecture>,
    pub cases: CaseSettings,
}

pub struct Registry {
    pub(crate) store: Store,
    pub(crate) blobs: Blobs,
    pub(crate) compiler: Compiler,
    /// One component is read into memory to be stored at the same time.
    pub(crate) storing: Semaphore,
    pub(crate) cases: CaseRunner,
    ready: Mutex<HashMap<Digest, Arc<ReadyPlugin>>>,
    resolved: Mutex<ResolvedReferences>,
    pub(crate) validations: Validations,
}

/// References that were resolved recently.
#[derive(Default)]
struct ResolvedReferences {
    kept: HashMap<(TenantId, Reference), Resolved>,
    /// The number of changes of channels and versions here.
    changes: u64,
}

impl Registry {
    /// Asks the worker program for the ids of the engines, and empties the scratch folder.
    pub async fn open(
        store: Store,
        blobs: Blobs,
        settings: RegistrySettings,
    ) -> anyhow::Result<Self> {
        let RegistrySettings { worker_program, scratch, architectures, cases } = settings;
        tokio::fs::create_dir_all(&scratch).await.context("making the scratch folder")?;
        remove_leftovers(&scratch).await.context("emptying the scratch folder")?;
        let compiler =
            Compiler::of(worker_program.clone(), scratch.clone(), &architectures).await?;
        Ok(Self {
            store,
            blobs,
            compiler,
            storing: Semaphore::new(1),
            cases: CaseRunner::new(worker_program, scratch, cases),
            ready: Mutex::default(),
            resolved: Mutex::default(),
            validations: Validations::default(),
        })
    }

    /// The engines for which plugins are compiled.
    #[must_use]
    pub fn engines(&self) -> &Engines {
        self.compiler.engines()
    }

    /// The number of components of each tenant that wait to be compiled.
    #[must_use]
    pub fn compilations_waiting(&self) -> BTreeMap<TenantId, usize> {
        self.compiler.waiting()
    }

    /// The validation of settings and labels by a version's schemas.
    pub async fn validation(&self, tenant: TenantId, plugin: &ReadyPlugin) -> Arc<Validation> {
        self.validations.of(tenant, plugin).await
    }

    /// The version that a reference names, for a new run.
    pub async fn resolve(
        self: &Arc<Self>,
        tenant: TenantId,
        reference: &Reference,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let asked = (tenant, reference.clone());
        let changes = {
            let resolved = self.resolved.lock();
            if let Some((since, plugin)) = resolved.kept.get(&asked)
                && since.elapsed() < RESOLVED_FOR
            {
                return Ok(plugin.clone());
            }
            resolved.changes
        };
        let plugin = self.look_up(tenant, reference).await?;
        let mut resolved = self.resolved.lock();
        // A plugin that was looked up before a change is not kept after it.
        if resolved.changes == changes {
            if resolved.kept.len() >= READY_MAX {
                resolved.kept.clear();
            }
            resolved.kept.insert(asked, (Instant::now(), plugin.clone()));
        }
        Ok(plugin)
    }

    /// Drops resolved references; call it after a channel or a version was changed.
    pub fn forget_resolved(&self) {
        let mut resolved = self.resolved.lock();
        resolved.changes += 1;
        resolved.kept.clear();
    }

    async fn look_up(
        self: &Arc<Self>,
        tenant: TenantId,
        reference: &Reference,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let name = &reference.name;
        let unknown = |error| match error {
            StoreError::NotFound(_) => RegistryError::NoPlugin(reference.unknown()),
            other => other.into(),
        };
        let version = if reference.is_version() {
            reference.channel_or_version.clone()
        } else {
            let channel = &reference.channel_or_version;
            self.store.channel(tenant, name, channel).await.map_err(unknown)?
        };
        let row = self.store.plugin(tenant, name, &version).await.map_err(unknown)?;
        if row.yanked {
            return Err(RegistryError::Refused(format!(
                "{} is yanked; new runs cannot use it",
                row.description.version_name()
            )));
        }
        self.ready(tenant, row).await
    }

    /// The pinned version of a run, even if it was yanked since.
    pub async fn pinned(
        self: &Arc<Self>,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let row = self.store.plugin(tenant, name, version).await?;
        self.ready(tenant, row).await
    }

    /// The pinned version of a run as it describes itself, without its compiled forms: no object is read, and nothing is
    /// compiled.
    pub async fn described(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<ReadyPlugin, RegistryError> {
        let PluginRow { digest, description, imports, yanked: _ } =
            self.store.plugin(tenant, name, version).await?;
        Ok(ReadyPlugin::new(digest, CompiledForms::new(), description, imports))
    }

    /// The size of a published component, and its bytes in pieces.
    pub async fn component(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<(u64, BlobPieces), RegistryError> {
        let row = self.store.plugin(tenant, name, version).await?;
        Ok(self.blobs.read_pieces(row.digest).await?)
    }

    async fn ready(
        self: &Arc<Self>,
        tenant: TenantId,
        row: PluginRow,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let PluginRow { digest, description, imports, yanked: _ } = row;
        if let Some(plugin) = self.ready.lock().get(&digest) {
            return Ok(plugin.clone());
        }
        let mut compiled = CompiledForms::new();
        for architecture in self.engines().architectures() {
            let form = self.compiled_for(tenant, digest, architecture).await;
            let form = form.map_err(|error| match error {
                RegistryError::Blob(BlobError::NotFound(_)) => {
                    RegistryError::ComponentMissing(description.version_name().to_string())
                }
                error => error,
            });
            compiled.insert(architecture, form?);
        }
        let plugin = Arc::new(ReadyPlugin::new(digest, compiled, description, imports));
        let mut held = self.ready.lock();
        if held.len() >= READY_MAX {
            held.clear();
        }
        held.insert(digest, plugin.clone());
        Ok(plugin)
    }

    /// The digest of a component's compiled form for an architecture. It is compiled if it was not before: published with
    /// an earlier release, or before workers of this architecture were asked for. So it is if its object is missing.
    pub(crate) async fn compiled_for(
        self: &Arc<Self>,
        tenant: TenantId,
        component: Digest,
        architecture: Architecture,
    ) -> Result<Digest, RegistryError> {
        let engine = self.engines().id(architecture);
        if let Some(compiled) = self.kept_code(component, engine).await? {
            return Ok(compiled);
        }
        let turn = self.compiler.turn(tenant).await;
        // Another call may have compiled it while this one waited for its turn.
        if let Some(compiled) = self.kept_code(component, engine).await? {
            return Ok(compiled);
        }
        // It goes on where this caller goes away: clients wait less long than it may take, and come again.
        let registry = Arc::clone(self);
        let compiling =
            async move { registry.compile_and_keep(turn, component, architecture).await };
        tokio::spawn(compiling).await.unwrap_or_else(|error| {
            Err(RegistryError::Compiler(anyhow::Error::new(error).context("compiling")))
        })
    }

    async fn compile_and_keep(
        &self,
        turn: CompileTurn,
        component: Digest,
        architecture: Architecture,
    ) -> Result<Digest, RegistryError> {
        let engine = self.engines().id(architecture);
        let bytes = self.blobs.get(component).await?;
        let code = self.compiler.compile_for(&turn, &bytes, architecture).await?;
        let stored = self.blobs.put(code).await?;
        self.store.record_compilation(component, engine, stored, now()).await?;
        Ok(stored)
    }

    /// The digest of a compiled form that is kept. A store of objects that fails may have it.
    async fn kept_code(
        &self,
        component: Digest,
        engine: &str,
    ) -> Result<Option<Digest>, StoreError> {
        let Some(compiled) = self.store.compilation(component, engine).await? else {
            return Ok(None);
        };
        match self.blobs.has(compiled).await {
            Ok(false) => {
                tracing::warn!(%component, "its compiled form is not stored; compiling it again");
                Ok(None)
            }
            Ok(true) | Err(_) => Ok(Some(compiled)),
        }
    }
}

/// Removes what a server that was killed left in its scratch folder.
async fn remove_leftovers(folder: &Path) -> std::io::Result<()> {
    let mut entries = tokio::fs::read_dir(folder).await?;
    while let Some(entry) = entries.next_entry().await? {
        let path = entry.path();
        let removed = match entry.file_type().await?.is_dir() {
            true => tokio::fs::remove_dir_all(&path).await,
            false => tokio::fs::remove_file(&path).await,
        };
        if let Err(error) = removed {
            tracing::warn!(%error, "{} cannot be removed", path.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use assay_api::tenant::TenantSettings;
    use assay_core::plugin::Description;
    use assay_postgres::{Cluster, Options};
    use assay_storage::Roots;
    use assay_store::audit::Actor;
    use assay_store::plugins::NewPlugin;
    use tokio::task::JoinSet;

    use super::*;

    /// A worker program that takes everything for the same plugin, and writes a line for each compilation.
    const WORKER: &str = r#"#!/bin/sh
if [ "$1" = engine ]; then echo engine; exit; fi
echo compiled >>"${0%/*}/compilations"
/bin/sleep 0.2
printf code >"$4"
cat <<END
{"ok": {
    "digest": "DIGEST", "compiled_digest": "DIGEST", "engine": "engine", "imports": [], "recalled": false,
    "description": DESCRIPTION
}}
END
"#;

    #[tokio::test]
    async fn a_plugin_is_compiled_once_for_all_that_ask_and_anew_if_its_code_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let description = Description {
            name: "plugin".into(),
            version: "1.0.0".into(),
            summary: String::new(),
            stages: Vec::new(),
            settings_schema: String::new(),
            label_schema: String::new(),
            timeout_reward: 0.0,
            deterministic: true,
        };
        let code = Digest::of(b"code");
        let program = folder.path().join("worker");
        let text = WORKER.replace("DIGEST", &code.to_string());
        let text =
            text.replace("DESCRIPTION", &serde_json::to_string(&description).expect("plain"));
        // Written by a process without children: none of another test can hold it open, and it can be run.
        let source = folder.path().join("text");
        std::fs::write(&source, text).expect("written");
        let copied = std::process::Command::new("cp").arg(&source).arg(&program).status();
        assert!(copied.expect("it is run").success());
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("it may be run");
        let compilations = || {
            let lines = std::fs::read_to_string(folder.path().join("compilations"));
            lines.expect("written").lines().count()
        };

        let data = folder.path().join("database");
        let cluster = Cluster::start(Options { data }).await.expect("PostgreSQL starts");
        let store = Store::connect(cluster.url()).await.expect("it answers");
        let settings = TenantSettings::default();
        let tenant = store.create_tenant("one", &settings, &Actor::Platform, now()).await;
        let tenant = tenant.expect("a new tenant").id;
        let blobs = Blobs::in_folder(&folder.path().join("objects")).expect("opens");
        let digest = blobs.put("component".into()).await.expect("kept");
        let plugin = NewPlugin {
            tenant,
            digest,
            bytes: 9,
            description: &description,
            imports: &[],
            cases: &[],
        };
        store.publish_plugin(plugin, &Actor::Platform, now()).await.expect("it is new");
        let open = async || {
            let cases = CaseSettings {
                arguments: Vec::new(),
                cache: folder.path().join("cache"),
                roots: Roots::default(),
            };
            let settings = RegistrySettings {
                worker_program: program.clone(),
                scratch: folder.path().join("scratch"),
                architectures: Vec::new(),
                cases,
            };
            let opened = Registry::open(store.clone(), blobs.clone(), settings).await;
            Arc::new(opened.expect("it has an engine"))
        };

        // As after a change of the engine: no code is recorded for it.
        let registry = open().await;
        let mut calls = JoinSet::new();
        for _ in 0..20 {
            let registry = Arc::clone(&registry);
            calls.spawn(async move { registry.pinned(tenant, "plugin", "1.0.0").await.map(drop) });
        }
        calls.join_all().await.into_iter().for_each(|ready| ready.expect("it is compiled"));
        assert_eq!(compilations(), 1);

        // A client that goes away has begun what the next one finds.
        let registry = open().await;
        let name = code.to_string();
        let object = folder.path().join("objects").join(&name[..2]).join(&name);
        std::fs::remove_file(&object).expect("removed");
        {
            let call = std::pin::pin!(registry.pinned(tenant, "plugin", "1.0.0"));
            let begun = async {
                while compilations() < 2 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                _ = call => panic!("it is compiled already"),
                () = begun => {}
            }
        }
        registry.pinned(tenant, "plugin", "1.0.0").await.expect("it is compiled");
        assert_eq!(compilations(), 2);

        // As after a restore whose objects are older than its database.
        std::fs::remove_file(&object).expect("removed");
        let registry = open().await;
        registry.pinned(tenant, "plugin", "1.0.0").await.expect("it is compiled");
        assert_eq!(compilations(), 3);
        assert!(object.exists());
        store.close().await;
        cluster.stop().await;
    }

    #[tokio::test]
    async fn leftovers_are_removed_and_links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (scratch, root) = (folder.path().join("scratch"), folder.path().join("root"));
        std::fs::create_dir_all(scratch.join("upload")).expect("created");
        std::fs::create_dir(&root).expect("created");
        std::fs::write(root.join("object"), "stays").expect("written");
        std::fs::write(scratch.join("upload/compiled"), "goes").expect("written");
        std::fs::write(scratch.join("file"), "goes").expect("written");
        for link in ["upload/root", "link"] {
            std::os::unix::fs::symlink(&root, scratch.join(link)).expect("linked");
        }
        remove_leftovers(&scratch).await.expect("a folder");
        assert_eq!(std::fs::read_dir(&scratch).expect("stays").count(), 0);
        assert!(root.join("object").exists());
    }
}
