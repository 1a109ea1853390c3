//! Plugins from upload to ready: kept by content, compiled in a worker process (which contains a
//! hostile upload), resolved by name.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use assay_model::id::{Digest, TenantId};
use assay_model::limits;
use assay_model::outbound::SENDS_REQUESTS;
use assay_model::plugin::Description;
use assay_model::tenant::Grants;
use bytes::Bytes;
use serde::Deserialize;
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::blob::{BlobError, Blobs};
use crate::dispatch::{PluginInfo, now};
use crate::store::audit::Actor;
use crate::store::plugins::{NewPlugin, PluginRow, Published};
use crate::store::{Store, StoreError};

/// Compilations at once: each may take all cores and up to its memory limit.
const COMPILATIONS_MAX: usize = 1;
const COMPILE_TIMEOUT: Duration = Duration::from_secs(limits::COMPILE_SECONDS_MAX);
/// Plugins held ready; beyond that they are looked up again.
const READY_MAX: usize = 1_024;
/// Another server's promotion is seen after this long.
const RESOLVED_FOR: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The plugin's author can do something about it.
    #[error("{0}")]
    Refused(String),
    /// It asks for what its tenant was not granted.
    #[error("{0}")]
    NotGranted(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("the plugin could not be compiled: {0:#}")]
    Compiler(anyhow::Error),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds these locks panics half-way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who publishes, and what the tenant was granted.
pub struct Publisher<'a> {
    pub tenant: TenantId,
    pub actor: &'a Actor,
    pub grants: &'a Grants,
}

/// What a plugin with these imports asks for and its tenant was not granted.
pub fn check_grants(imports: &[String], grants: &Grants) -> Result<(), RegistryError> {
    let asks = |package: &str| imports.iter().find(|import| import.starts_with(package));
    let refused = |import: &str, what: &str| {
        let detail =
            format!("the plugin imports `{import}`, and the tenant was not granted {what}");
        Err(RegistryError::NotGranted(detail))
    };
    if let Some(import) = asks(SENDS_REQUESTS).filter(|_| grants.hosts.is_empty()) {
        return refused(import, "any host to send requests to");
    }
    match (asks("assay:gpu/"), asks("assay:exec/")) {
        (Some(import), _) if !grants.gpu => refused(import, "GPUs"),
        (_, Some(import)) if grants.toolchains.as_ref().is_some_and(Vec::is_empty) => {
            refused(import, "any toolchain")
        }
        _ => Ok(()),
    }
}

/// A version of a plugin as a caller names it: `name@channel-or-version`, or `tenant/name@...`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    pub tenant: Option<String>,
    pub name: String,
    pub channel_or_version: String,
}

impl Reference {
    pub fn parse(text: &str) -> Result<Self, String> {
        let explain = || {
            let shown: String = text.chars().take(80).collect();
            format!(
                "`{shown}` names no plugin version; write name@channel or name@version, such as math@prod"
            )
        };
        let (path, channel_or_version) = text.split_once('@').ok_or_else(explain)?;
        let (tenant, name) = match path.split_once('/') {
            Some((tenant, name)) => (Some(tenant.to_owned()), name),
            None => (None, path),
        };
        if name.is_empty() || channel_or_version.is_empty() {
            return Err(explain());
        }
        let channel_or_version = channel_or_version.to_owned();
        Ok(Self { tenant, name: name.into(), channel_or_version })
    }

    /// Versions start with a digit, channels with a letter.
    #[must_use]
    pub fn is_version(&self) -> bool {
        self.channel_or_version.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// Since when a reference is known to name a plugin.
type Resolved = (Instant, Arc<PluginInfo>);

pub struct Registry {
    store: Store,
    blobs: Blobs,
    worker_program: PathBuf,
    scratch: PathBuf,
    /// The engine of this machine's workers.
    pub engine: String,
    compilations: Semaphore,
    ready: Mutex<HashMap<Digest, Arc<PluginInfo>>>,
    /// What references named a moment ago; forgotten when a channel or a version changes here.
    resolved: Mutex<HashMap<(TenantId, Reference), Resolved>>,
}

/// What `assay-worker compile` prints.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CompileReport {
    Ok(Box<CompileOk>),
    Refused { message: String },
}

#[derive(Deserialize)]
struct CompileOk {
    compiled_digest: Digest,
    engine: String,
    description: Description,
    imports: Vec<String>,
}

impl Registry {
    /// Asks the worker program for its engine.
    pub async fn open(
        store: Store,
        blobs: Blobs,
        worker_program: PathBuf,
        scratch: PathBuf,
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
            ready: Mutex::default(),
            resolved: Mutex::default(),
        })
    }

    /// Compiles, checks and publishes a component. The same bytes again change nothing.
    pub async fn publish(
        &self,
        publisher: Publisher<'_>,
        component: Bytes,
    ) -> Result<(Description, Published), RegistryError> {
        if component.len() > limits::PLUGIN_BYTES_MAX {
            return Err(RegistryError::Refused(format!(
                "the component has {} bytes, the limit is {}",
                component.len(),
                limits::PLUGIN_BYTES_MAX
            )));
        }
        let Publisher { tenant, actor, grants } = publisher;
        let compiled = self.compile(&component).await?;
        let CompileOk { description, imports, .. } = &compiled.report;
        check_grants(imports, grants)?;
        let digest = self.blobs.put(component).await?;
        self.keep_compiled(digest, &compiled).await?;
        let plugin = NewPlugin { tenant, digest, description, imports };
        let published = self.store.publish_plugin(plugin, actor, now()).await?;
        Ok((compiled.report.description, published))
    }

    /// The version that a reference names, for a new run.
    pub async fn resolve(
        &self,
        tenant: TenantId,
        reference: &Reference,
    ) -> Result<Arc<PluginInfo>, RegistryError> {
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

    /// To be called after a channel or a version was changed.
    pub fn forget_resolved(&self) {
        lock(&self.resolved).clear();
    }

    async fn look_up(
        &self,
        tenant: TenantId,
        reference: &Reference,
    ) -> Result<Arc<PluginInfo>, RegistryError> {
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

    /// The pinned version of a run: also when it has been yanked since.
    pub async fn pinned(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<Arc<PluginInfo>, RegistryError> {
        let row = self.store.plugin(tenant, name, version).await?;
        self.ready(row).await
    }

    /// What was published.
    pub async fn component(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<Bytes, RegistryError> {
        let row = self.store.plugin(tenant, name, version).await?;
        Ok(self.blobs.get(row.digest).await?)
    }

    async fn ready(&self, row: PluginRow) -> Result<Arc<PluginInfo>, RegistryError> {
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
        let plugin = Arc::new(PluginInfo::new(digest, compiled, description, imports));
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

    /// Runs `assay-worker compile` on the bytes.
    async fn compile(&self, component: &Bytes) -> Result<Compiled, RegistryError> {
        let _turn = self.compilations.acquire().await.expect("the semaphore is never closed");
        self.compile_in(component)
            .await
            .map_err(RegistryError::Compiler)?
            .map_err(RegistryError::Refused)
    }

    async fn compile_in(&self, component: &Bytes) -> anyhow::Result<Result<Compiled, String>> {
        let folder =
            tempfile::tempdir_in(&self.scratch).context("making a folder to compile in")?;
        let (input, out) = (folder.path().join("component.wasm"), folder.path().join("compiled"));
        tokio::fs::write(&input, component).await.context("writing the component")?;
        let run = Command::new(&self.worker_program)
            .arg("compile")
            .arg(&input)
            .arg("--out")
            .arg(&out)
            .env_clear()
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let Ok(output) = tokio::time::timeout(COMPILE_TIMEOUT, run).await else {
            let seconds = limits::COMPILE_SECONDS_MAX;
            return Ok(Err(format!("compiling took longer than {seconds} s")));
        };
        let output = output.context("running the compiler")?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let last = stderr.lines().last().unwrap_or_default();
            // Also how the memory limit ends: the plugin is too large, not the host broken.
            return Ok(Err(format!("the compiler ended with {}: {last}", output.status)));
        }
        let report: CompileReport =
            serde_json::from_slice(&output.stdout).context("reading the compiler's report")?;
        let report = match report {
            CompileReport::Refused { message } => return Ok(Err(message)),
            CompileReport::Ok(report) => *report,
        };
        let bytes: Bytes = tokio::fs::read(&out).await.context("reading the compiled form")?.into();
        anyhow::ensure!(report.engine == self.engine, "the worker program was replaced");
        anyhow::ensure!(
            crate::blob::digest(&bytes) == report.compiled_digest,
            "the compiled form changed"
        );
        Ok(Ok(Compiled { report, bytes }))
    }
}

struct Compiled {
    report: CompileOk,
    bytes: Bytes,
}

#[cfg(test)]
mod tests {
    use assay_model::tenant::Grants;

    use super::{Reference, RegistryError, check_grants};

    #[test]
    fn a_plugin_gets_what_its_tenant_was_granted() {
        let refusal = |imports: &[&str], grants: &Grants| {
            let imports: Vec<String> = imports.iter().map(|&import| import.to_owned()).collect();
            match check_grants(&imports, grants) {
                Err(RegistryError::NotGranted(detail)) => Some(detail),
                _ => None,
            }
        };
        let none = Grants { toolchains: Some(Vec::new()), ..Grants::default() };
        let all = Grants { gpu: true, hosts: vec!["api.example.com".into()], ..Grants::default() };
        let some = Grants { toolchains: Some(vec!["cpp17-gcc".into()]), ..Grants::default() };
        let (gpu, exec) = ("assay:gpu/device@0.1.0", "assay:exec/exec@0.1.0");
        assert_eq!(refusal(&["assay:reward/log@0.1.0"], &none), None);
        let (types, http) = ("wasi:http/types@0.2.0", "wasi:http/outgoing-handler@0.2.0");
        assert_eq!(refusal(&[gpu, exec, http], &all), None);
        assert_eq!(refusal(&[types], &none), None);
        let detail = refusal(&[types, http], &none).expect("refused");
        assert!(detail.ends_with("was not granted any host to send requests to"), "{detail}");
        assert_eq!(refusal(&[exec], &some), None);
        let detail = refusal(&[gpu], &some).expect("refused");
        assert!(detail.contains(gpu) && detail.ends_with("was not granted GPUs"), "{detail}");
        let detail = refusal(&[exec], &none).expect("refused");
        assert!(detail.ends_with("was not granted any toolchain"), "{detail}");
    }

    #[test]
    fn references_name_a_channel_or_a_version() {
        let reference = Reference::parse("team/cuda@prod").expect("valid");
        assert_eq!(reference.tenant.as_deref(), Some("team"));
        assert_eq!(reference.name, "cuda");
        assert!(!reference.is_version());
        assert!(Reference::parse("math@1.0.0").expect("valid").is_version());
        for bad in ["math", "@prod", "math@", ""] {
            assert!(Reference::parse(bad).is_err(), "{bad}");
        }
    }
}
