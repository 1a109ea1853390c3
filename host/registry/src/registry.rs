//! Plugins that are ready to run: published, resolved by name, held in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
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
use crate::validation::{Unusable, Validation, Validations};
use assay_dispatch::fair_semaphore::FairSemaphore;
use assay_dispatch::{ReadyPlugin, now};
use assay_storage::blob::{BlobError, Blobs};
use assay_store::audit::Actor;
use assay_store::plugins::{NewPlugin, PluginRow, Published};
use assay_store::{Store, StoreError};

/// The number of compilations at once, of two tenants; each may use all cores and memory up to its limit.
const COMPILATIONS_MAX: usize = 2;
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

/// A component that was compiled; nothing is stored of it yet.
pub struct Accepted {
    pub(crate) description: Description,
    pub(crate) imports: Vec<String>,
    digest: Digest,
    pub(crate) compiled_digest: Digest,
    /// The folder with the component and its compiled form.
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
    pub compilations: FairSemaphore,
    /// One component is read into memory to be stored at the same time.
    storing: Semaphore,
    pub(crate) case_settings: CaseSettings,
    pub(crate) case_turns: CaseTurns,
    ready: Mutex<HashMap<Digest, Arc<ReadyPlugin>>>,
    /// References that were resolved recently; cleared when a channel or a version changes here.
    resolved: Mutex<HashMap<(TenantId, Reference), Resolved>>,
    validations: Validations,
}

impl Registry {
    /// Asks the worker program for the id of its engine. The folder `scratch` is this server's alone, and is
    /// emptied.
    pub async fn open(
        store: Store,
        blobs: Blobs,
        worker_program: PathBuf,
        scratch: PathBuf,
        case_settings: CaseSettings,
    ) -> anyhow::Result<Self> {
        tokio::fs::create_dir_all(&scratch).await.context("making the scratch folder")?;
        remove_leftovers(&scratch).await.context("emptying the scratch folder")?;
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
            compilations: FairSemaphore::new(COMPILATIONS_MAX),
            storing: Semaphore::new(1),
            case_settings,
            case_turns: CaseTurns::default(),
            ready: Mutex::default(),
            resolved: Mutex::default(),
            validations: Validations::default(),
        })
    }

    /// Compiles and checks a component; nothing is stored of it.
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
        let Compiled { report, folder, .. } = self.compile(publisher.tenant, &component).await?;
        let CompileOk { description, imports, compiled_digest, .. } = report;
        check_grants(&imports, publisher.grants)?;
        let digest = Digest::of(&component);
        self.check_schemas(publisher.tenant, &description, digest).await?;
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
            // It may be compiled for another engine than the last time.
            self.keep(&accepted).await?;
            return Ok((accepted.description, Published::Already));
        }
        let cases = self.settle_cases(&publisher, &accepted, cases, runs).await?;
        self.keep(&accepted).await?;
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
        digest: Digest,
    ) -> Result<(), RegistryError> {
        let Err(why) = self.validations.compile(description).await else { return Ok(()) };
        let published = self.store.plugin(tenant, &description.name, &description.version).await;
        refuse_schemas(&why, digest, published.map(|row| row.digest))
    }

    /// Stores an accepted component and its compiled form. Golden cases ran since they were written.
    async fn keep(&self, accepted: &Accepted) -> Result<(), RegistryError> {
        let Accepted { folder, digest, compiled_digest, .. } = accepted;
        let _turn = self.storing.acquire().await.expect("the semaphore is never closed");
        for (file, digest) in
            [(Compiled::component(folder), *digest), (Compiled::file(folder), *compiled_digest)]
        {
            let bytes = read_verified(&file, digest).await.map_err(RegistryError::Compiler)?;
            self.blobs.put(bytes).await?;
        }
        self.store.record_compilation(*digest, &self.engine, *compiled_digest, now()).await?;
        Ok(())
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
                "{name}@{version} is yanked; new runs cannot use it"
            )));
        }
        self.ready(tenant, row).await
    }

    /// The pinned version of a run, even if it was yanked since.
    pub async fn pinned(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let row = self.store.plugin(tenant, name, version).await?;
        self.ready(tenant, row).await
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

    async fn ready(
        &self,
        tenant: TenantId,
        row: PluginRow,
    ) -> Result<Arc<ReadyPlugin>, RegistryError> {
        let PluginRow { digest, description, imports, yanked: _ } = row;
        if let Some(plugin) = lock(&self.ready).get(&digest) {
            return Ok(plugin.clone());
        }
        let compiled = match self.store.compilation(digest, &self.engine).await? {
            Some(compiled) => compiled,
            // Compiled for an engine of an earlier release.
            None => {
                let component = self.blobs.get(digest).await.map_err(|error| match error {
                    BlobError::NotFound(_) => RegistryError::ComponentMissing(format!(
                        "{}@{}",
                        description.name, description.version
                    )),
                    error => error.into(),
                })?;
                let compiled = self.compile(tenant, &component).await?;
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

/// Schemas that cannot be used are no obstacle for the bytes of a version that was published before schemas were
/// checked.
fn refuse_schemas(
    why: &Unusable,
    digest: Digest,
    published: Result<Digest, StoreError>,
) -> Result<(), RegistryError> {
    match published {
        Ok(there) if there == digest => Ok(()),
        Ok(_) | Err(StoreError::NotFound(_)) => Err(RegistryError::Refused(why.to_string())),
        Err(error) => Err(error.into()),
    }
}

async fn read_verified(file: &Path, digest: Digest) -> anyhow::Result<Bytes> {
    let bytes =
        tokio::fs::read(file).await.with_context(|| format!("reading {}", file.display()))?;
    anyhow::ensure!(Digest::of(&bytes) == digest, "{} changed", file.display());
    Ok(bytes.into())
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
    use super::*;

    #[test]
    fn a_database_that_is_down_refuses_no_schema() {
        let (these, others) = (Digest([1; 32]), Digest([2; 32]));
        let refused = |published| refuse_schemas(&Unusable::Broken, these, published);
        assert!(refused(Ok(these)).is_ok());
        for published in [Ok(others), Err(StoreError::NotFound("plugin version"))] {
            assert!(matches!(refused(published), Err(RegistryError::Refused(_))));
        }
        let down = Err(StoreError::Conflict("stands for any other error".into()));
        assert!(matches!(refused(down), Err(RegistryError::Store(_))));
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

    #[tokio::test]
    async fn what_changed_in_the_meantime_is_not_stored() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("compiled");
        std::fs::write(&file, "native code").expect("written");
        assert!(read_verified(&file, Digest::of(b"native code")).await.is_ok());
        assert!(read_verified(&file, Digest::of(b"other code")).await.is_err());
    }
}
