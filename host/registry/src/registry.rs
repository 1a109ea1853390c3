//! Plugins that are ready to run: published, resolved by name, held in memory.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use assay_api::tenant::Grants;
use assay_core::golden::CaseFile;
use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_core::plugin::Description;
use bytes::Bytes;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::cases::{CaseRuns, CaseSettings};
use crate::compile::{CompileOk, Compiled};
use crate::error::RegistryError;
use crate::grants::check_grants;
use crate::reference::Reference;
use crate::turns::CaseTurns;
use crate::validation::{self, Validation, Validations};
use assay_dispatch::{ReadyPlugin, now};
use assay_storage::blob::Blobs;
use assay_store::Store;
use assay_store::audit::Actor;
use assay_store::plugins::{NewPlugin, PluginRow, Published};

/// The number of compilations at once; each may use all cores and memory up to its limit.
const COMPILATIONS_MAX: usize = 1;
/// The number of ready plugins in memory; others are looked up again.
const READY_MAX: usize = 1_024;
/// The time for which a resolved reference is kept; another server's change is seen after it.
const RESOLVED_FOR: Duration = Duration::from_secs(2);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that holds these locks panics in the middle of a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tenant that publishes, the person or key that acts for it, and the tenant's grants.
pub struct Publisher<'a> {
    pub tenant: TenantId,
    pub actor: &'a Actor,
    pub grants: &'a Grants,
}

/// A component that was compiled and kept.
pub struct Accepted {
    pub(crate) description: Description,
    pub(crate) imports: Vec<String>,
    digest: Digest,
    pub(crate) compiled_digest: Digest,
    /// The folder with the compiled form.
    pub(crate) folder: TempDir,
}

/// A plugin that a reference names, and the time at which it was resolved.
type Resolved = (Instant, Arc<ReadyPlugin>);

pub struct Registry {
    store: Store,
    pub(crate) blobs: Blobs,
    pub(crate) worker_program: PathBuf,
    pub(crate) scratch: PathBuf,
    /// The id of the engine of this machine's workers.
    pub engine: String,
    pub(crate) compilations: Semaphore,
    pub(crate) case_settings: CaseSettings,
    pub(crate) case_turns: CaseTurns,
    ready: Mutex<HashMap<Digest, Arc<ReadyPlugin>>>,
    /// References that were resolved recently; cleared when a channel or a version changes here.
    resolved: Mutex<HashMap<(TenantId, Reference), Resolved>>,
    validations: Validations,
}

impl Registry {
    /// Asks the worker program for the id of its engine.
    pub async fn open(
        store: Store,
        blobs: Blobs,
        worker_program: PathBuf,
        scratch: PathBuf,
        case_settings: CaseSettings,
    ) -> anyhow::Result<Self> {
        tokio::fs::create_dir_all(&scratch).await.context("making the scratch folder")?;
        let output = Command::new(&worker_program)
            .arg("engine")
            .env_clear()
            .output()
            .await
            .with_context(|| format!("running {}", worker_program.display()))?;
        anyhow::ensure!(
            output.status.success(),
            "{} engine: {}",
            worker_program.display(),
            output.status
        );
        let engine = String::from_utf8(output.stdout).context("reading the engine's id")?;
        Ok(Self {
            store,
            blobs,
            worker_program,
            scratch,
            engine: engine.trim().into(),
            compilations: Semaphore::new(COMPILATIONS_MAX),
            case_settings,
            case_turns: CaseTurns::default(),
            ready: Mutex::default(),
            resolved: Mutex::default(),
            validations: Validations::default(),
        })
    }

    /// Compiles, checks and keeps a component; no version has it yet.
    pub async fn accept(
        &self,
        publisher: &Publisher<'_>,
        component: Bytes,
    ) -> Result<Accepted, RegistryError> {
        if component.len() > limits::PLUGIN_BYTES_MAX {
            return Err(RegistryError::Refused(format!(
                "the component has {} bytes, the limit is {}",
                component.len(),
                limits::PLUGIN_BYTES_MAX
            )));
        }
        let compiled = self.compile(&component).await?;
        check_grants(&compiled.report.imports, publisher.grants)?;
        self.check_schemas(publisher.tenant, &compiled.report.description, &component).await?;
        let digest = self.blobs.put(component).await?;
        let compiled_digest = self.keep_compiled(digest, &compiled).await?;
        let Compiled { report: CompileOk { description, imports, .. }, folder, .. } = compiled;
        Ok(Accepted { description, imports, digest, compiled_digest, folder })
    }

    /// Publishes an accepted component if no golden case fails. The same bytes again change nothing, and
    /// run no cases.
    pub async fn publish(
        &self,
        publisher: Publisher<'_>,
        accepted: Accepted,
        cases: Vec<CaseFile>,
        runs: CaseRuns,
    ) -> Result<(Description, Published), RegistryError> {
        let Publisher { tenant, actor, .. } = publisher;
        let Accepted { description, digest, .. } = &accepted;
        if self.store.is_published(tenant, description, *digest).await? {
            return Ok((accepted.description, Published::Already));
        }
        let cases = self.settle_cases(&publisher, &accepted, cases, runs).await?;
        let imports = &accepted.imports;
        let plugin = NewPlugin { tenant, digest: *digest, description, imports, cases: &cases };
        let published = self.store.publish_plugin(plugin, actor, now()).await?;
        Ok((accepted.description, published))
    }

    /// Fails if the schemas cannot be used, unless these bytes were published before schemas were checked.
    async fn check_schemas(
        &self,
        tenant: TenantId,
        description: &Description,
        component: &Bytes,
    ) -> Result<(), RegistryError> {
        let Err(why) = validation::compile(description).await else { return Ok(()) };
        match self.store.plugin(tenant, &description.name, &description.version).await {
            Ok(there) if there.digest == Digest::of(component) => Ok(()),
            _ => Err(RegistryError::Refused(why.to_string())),
        }
    }

    /// The validation of settings and labels by a version's schemas.
    pub async fn validation(&self, plugin: &ReadyPlugin) -> Arc<Validation> {
        self.validations.of(plugin).await
    }

    /// The version that a reference names, for a new run.
    pub async fn resolve(
        &self,
        tenant: TenantId,
        reference: &Reference,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let asked = (tenant, reference.clone());
        if let Some((since, plugin)) = lock(&self.resolved).get(&asked)
            && since.elapsed() < RESOLVED_FOR
        {
            return Ok(plugin.clone());
        }
        let plugin = self.look_up(tenant, reference).await?;
        let mut resolved = lock(&self.resolved);
        if resolved.len() >= READY_MAX {
            resolved.clear();
        }
        resolved.insert(asked, (Instant::now(), plugin.clone()));
        Ok(plugin)
    }

    /// Drops resolved references; call it after a channel or a version was changed.
    pub fn forget_resolved(&self) {
        lock(&self.resolved).clear();
    }

    async fn look_up(
        &self,
        tenant: TenantId,
        reference: &Reference,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let name = &reference.name;
        let version = if reference.is_version() {
            reference.channel_or_version.clone()
        } else {
            self.store.channel(tenant, name, &reference.channel_or_version).await?
        };
        let row = self.store.plugin(tenant, name, &version).await?;
        if row.yanked {
            return Err(RegistryError::Refused(format!(
                "{name}@{version} is yanked; new runs cannot use it"
            )));
        }
        self.ready(row).await
    }

    /// The pinned version of a run, even if it was yanked since.
    pub async fn pinned(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let row = self.store.plugin(tenant, name, version).await?;
        self.ready(row).await
    }

    /// The bytes of a published component.
    pub async fn component(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<Bytes, RegistryError> {
        let row = self.store.plugin(tenant, name, version).await?;
        Ok(self.blobs.get(row.digest).await?)
    }

    async fn ready(&self, row: PluginRow) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let PluginRow { digest, description, imports, yanked: _ } = row;
        if let Some(plugin) = lock(&self.ready).get(&digest) {
            return Ok(plugin.clone());
        }
        let compiled = match self.store.compilation(digest, &self.engine).await? {
            Some(compiled) => compiled,
            // Compiled for an engine of an earlier release.
            None => {
                let component = self.blobs.get(digest).await?;
                let compiled = self.compile(&component).await?;
                self.keep_compiled(digest, &compiled).await?
            }
        };
        let plugin = Arc::new(ReadyPlugin::new(digest, compiled, description, imports));
        let mut held = lock(&self.ready);
        if held.len() >= READY_MAX {
            held.clear();
        }
        held.insert(digest, plugin.clone());
        Ok(plugin)
    }

    async fn keep_compiled(
        &self,
        digest: Digest,
        compiled: &Compiled,
    ) -> Result<Digest, RegistryError> {
        let stored = self.blobs.put(compiled.bytes.clone()).await?;
        self.store.record_compilation(digest, &self.engine, stored, now()).await?;
        Ok(stored)
    }
}
