//! Settings and labels against the schemas that a plugin's version declares. Schemas are compiled on other threads,
//! outside of locks, and those of the versions that were used last are kept by digest. Tenants take turns with what takes
//! long.

use std::num::NonZeroUsize;
use std::sync::Arc;

use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_core::plugin::Description;
use assay_dispatch::ReadyPlugin;
use assay_dispatch::fair_semaphore::{FairPermit, FairSemaphore};
use assay_schema::{PluginSchemas, Schema, SchemaRefused, ValidationWork};
use lru::LruCache;
use parking_lot::Mutex;
use tokio::task::JoinError;

/// Why settings or a label are not accepted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValidationError {
    /// The caller's JSON does not match the schema; the text names the field.
    #[error("{0}")]
    Mismatch(String),
    /// The validation did not end, so that nothing is known of the JSON: the server stops, or failed.
    #[error("the server could not validate the {0}")]
    Interrupted(&'static str),
}

/// The compiled schemas of one plugin version.
#[derive(Debug)]
pub struct Validation {
    schemas: PluginSchemas,
    threads: FairSemaphore,
}

impl Validation {
    /// Validates the settings of a run; the error names the field.
    pub async fn settings(
        self: &Arc<Self>,
        tenant: TenantId,
        json: &str,
    ) -> Result<(), ValidationError> {
        self.validate(tenant, "settings", |schemas| schemas.settings.as_ref(), json).await
    }

    /// Validates a label; the error names the field. A request without one is the plugin's to judge.
    pub async fn label(
        self: &Arc<Self>,
        tenant: TenantId,
        json: Option<&str>,
    ) -> Result<(), ValidationError> {
        let Some(json) = json else { return Ok(()) };
        self.validate(tenant, "label", |schemas| schemas.label.as_ref(), json).await
    }

    /// Whether any label could be refused.
    #[must_use]
    pub fn has_label(&self) -> bool {
        self.schemas.label.is_some()
    }

    async fn validate(
        self: &Arc<Self>,
        tenant: TenantId,
        name: &'static str,
        which: fn(&PluginSchemas) -> Option<&Schema>,
        json: &str,
    ) -> Result<(), ValidationError> {
        let Some(schema) = which(&self.schemas) else { return Ok(()) };
        let result = match schema.work(json) {
            ValidationWork::Quick => schema.validate(json),
            ValidationWork::Long => {
                let turn = self.threads.acquire(tenant, 1).await;
                let (schemas, json) = (self.clone(), json.to_owned());
                let validated = apart(turn, move || {
                    which(&schemas.schemas).map_or(Ok(()), |schema| schema.validate(&json))
                });
                ended(name, validated.await)?
            }
        };
        result.map_err(|mismatch| ValidationError::Mismatch(mismatch.about(name)))
    }
}

/// The validations of the plugin versions that were used last.
pub(crate) struct Validations {
    kept: Mutex<CompiledSchemas>,
    threads: FairSemaphore,
    compilations: FairSemaphore,
}

struct CompiledSchemas {
    by_digest: LruCache<Digest, Arc<Validation>>,
    /// The JSON values of all of their schemas.
    nodes: u64,
}

impl Default for Validations {
    fn default() -> Self {
        let max = NonZeroUsize::new(limits::SCHEMAS_CACHED_MAX).expect("the limit is not 0");
        let kept = CompiledSchemas { by_digest: LruCache::new(max), nodes: 0 };
        Self {
            kept: Mutex::new(kept),
            threads: FairSemaphore::new(limits::SCHEMA_THREADS_MAX),
            compilations: FairSemaphore::new(1),
        }
    }
}

impl Validations {
    /// The validation of a version. One that was published before its schemas were checked, and has some
    /// that cannot be used, is not validated.
    pub(crate) async fn of(&self, tenant: TenantId, plugin: &ReadyPlugin) -> Arc<Validation> {
        if let Some(validation) = self.kept.lock().get(plugin.digest) {
            return validation;
        }
        let turn = self.compilations.acquire(tenant, 1).await;
        // Compiled while this call waited.
        if let Some(validation) = self.kept.lock().get(plugin.digest) {
            return validation;
        }
        let schemas = compile(turn, &plugin.description).await.unwrap_or_else(|why| {
            let (name, version) = (&plugin.description.name, &plugin.description.version);
            tracing::warn!(name, version, %why, "a version's settings and labels are not validated");
            PluginSchemas::default()
        });
        let validation = Arc::new(Validation { schemas, threads: self.threads.clone() });
        self.kept.lock().insert(plugin.digest, validation.clone());
        validation
    }

    /// Compiles the schemas of a description that no version has yet.
    pub(crate) async fn compile(
        &self,
        tenant: TenantId,
        description: &Description,
    ) -> Result<PluginSchemas, Unusable> {
        compile(self.compilations.acquire(tenant, 1).await, description).await
    }
}

impl CompiledSchemas {
    fn get(&mut self, digest: Digest) -> Option<Arc<Validation>> {
        self.by_digest.get(&digest).cloned()
    }

    fn insert(&mut self, digest: Digest, validation: Arc<Validation>) {
        self.nodes += validation.schemas.nodes();
        if let Some((_, dropped)) = self.by_digest.push(digest, validation) {
            self.nodes -= dropped.schemas.nodes();
        }
        while self.nodes > limits::SCHEMAS_CACHED_NODES_MAX && self.by_digest.len() > 1 {
            let Some((_, dropped)) = self.by_digest.pop_lru() else { return };
            self.nodes -= dropped.schemas.nodes();
        }
    }
}

/// Works on a thread that may be kept for long. The turn ends with the work: a caller that goes away does not free
/// it while the thread goes on.
async fn apart<T: Send + 'static>(
    turn: FairPermit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let working = tokio::task::spawn_blocking(move || {
        let _until_done = turn;
        work()
    });
    working.await
}

/// The result of work that ended. A thread that panicked, or never ran, found nothing valid.
fn ended<T>(name: &'static str, result: Result<T, JoinError>) -> Result<T, ValidationError> {
    result.map_err(|error| {
        tracing::error!(%error, "the {name} of a call could not be validated");
        ValidationError::Interrupted(name)
    })
}

/// Compiles the schemas of a description on another thread.
async fn compile(turn: FairPermit, description: &Description) -> Result<PluginSchemas, Unusable> {
    let (settings, label) = (description.settings_schema.clone(), description.label_schema.clone());
    let compiled = apart(turn, move || PluginSchemas::compile(&settings, &label)).await;
    // The library panicked, so that the schema is none to evaluate in this process.
    compiled.map_err(|_| Unusable::Broken)?.map_err(Unusable::Refused)
}

/// Why schemas cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error(transparent)]
    Refused(#[from] SchemaRefused),
    #[error("settings-schema or label-schema: the validator cannot compile it; describe less")]
    Broken,
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    fn validation(label: &str) -> Arc<Validation> {
        let schemas = PluginSchemas::compile("", label).expect("valid");
        Arc::new(Validation { schemas, threads: FairSemaphore::new(1) })
    }

    const TENANT: TenantId = TenantId(uuid::Uuid::nil());

    fn digest(number: u64) -> Digest {
        Digest::of(&number.to_le_bytes())
    }

    #[test]
    fn few_versions_with_large_schemas_are_kept() {
        let validations = Validations::default();
        let names: Vec<String> = (0..4_000).map(|at| at.to_string()).collect();
        let large = validation(&format!(r#"{{"enum": [{}]}}"#, names.join(",")));
        let each = large.schemas.nodes();
        let mut kept = validations.kept.lock();
        for number in 0..1_000 {
            kept.insert(digest(number), large.clone());
            assert!(kept.nodes <= limits::SCHEMAS_CACHED_NODES_MAX);
            assert_eq!(kept.nodes, kept.by_digest.len() as u64 * each);
        }
        assert!(kept.get(digest(0)).is_none() && kept.get(digest(999)).is_some());
        assert!(kept.by_digest.len() < limits::SCHEMAS_CACHED_MAX);
    }

    #[test]
    fn the_version_that_was_used_last_is_kept() {
        let validations = Validations::default();
        let small = validation(r#"{"type": "string"}"#);
        let mut kept = validations.kept.lock();
        for number in 0..limits::SCHEMAS_CACHED_MAX as u64 {
            kept.insert(digest(number), small.clone());
        }
        assert!(kept.get(digest(0)).is_some());
        kept.insert(digest(u64::MAX), small.clone());
        assert!(kept.get(digest(0)).is_some() && kept.get(digest(1)).is_none());
        // The same digest twice counts once.
        kept.insert(digest(u64::MAX), small.clone());
        assert_eq!(kept.nodes, kept.by_digest.len() as u64 * small.schemas.nodes());
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_keeps_its_turn_until_the_work_is_done() {
        let turns = FairSemaphore::new(1);
        let (goes_on, waits) = std::sync::mpsc::channel::<()>();
        let mut call = Box::pin(async {
            let turn = turns.acquire(TENANT, 1).await;
            apart(turn, move || waits.recv()).await
        });
        // The work begins, and the call is dropped.
        assert!(
            std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context)))
                .await
                .is_pending()
        );
        drop(call);
        assert_eq!(turns.free(), 0);
        goes_on.send(()).expect("the work goes on");
        let _turn = turns.acquire(TENANT, 1).await;
    }

    #[tokio::test]
    async fn a_validation_that_panics_accepts_nothing() {
        let turn = FairSemaphore::new(1).acquire(TENANT, 1).await;
        let panicked = apart(turn, || -> Result<(), String> { panic!("a fault of ours") }).await;
        let found = ended("label", panicked).map(|_| ());
        assert_eq!(found, Err(ValidationError::Interrupted("label")));
    }

    #[tokio::test]
    async fn long_and_short_validations_say_the_same() {
        let validation = validation(r#"{"type": "array", "items": {"type": "integer"}}"#);
        let long = format!("[{}\"x\"]", "1,".repeat(200_000));
        for (json, expected) in
            [("[1]", None), ("[1, \"x\"]", Some("/1")), (long.as_str(), Some(""))]
        {
            let found = validation.label(TENANT, Some(json)).await;
            assert_eq!(found.is_err(), expected.is_some(), "{found:?}");
            let told = found.err().map_or_else(String::new, |error| error.to_string());
            assert!(told.contains(expected.unwrap_or_default()), "{told}");
        }
        assert_eq!(validation.label(TENANT, None).await, Ok(()));
        assert_eq!(validation.settings(TENANT, "{\"any\": 1}").await, Ok(()));
    }
}
