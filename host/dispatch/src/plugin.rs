//! A plugin version as the dispatcher needs it: its compiled form, and the pools of its stages.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::architecture::Architecture;
use assay_core::capability;
use assay_core::id::Digest;
use assay_core::plugin::Description;
use assay_core::time::Micros;
use assay_sched::StageShape;
use assay_store::admissions::BatchRow;

/// Where a starting dispatcher gets the plugins of the batches that it restores.
pub trait Plugins: Send + Sync + 'static {
    /// The version that the batch's run has pinned.
    fn of(&self, row: &BatchRow) -> impl Future<Output = anyhow::Result<Arc<ReadyPlugin>>> + Send;

    /// This version without its compiled forms, so that no request runs: enough to end the batch.
    fn described(
        &self,
        row: &BatchRow,
    ) -> impl Future<Output = anyhow::Result<Arc<ReadyPlugin>>> + Send;
}

/// The digest of a plugin's compiled form by architecture.
pub type CompiledForms = BTreeMap<Architecture, Digest>;

/// A plugin version that is ready to run.
#[derive(Debug)]
pub struct ReadyPlugin {
    pub digest: Digest,
    /// The digests of its compiled forms, for all architectures of workers.
    pub(crate) compiled: CompiledForms,
    pub description: Description,
    /// The names of the interfaces that it imports.
    pub imports: Vec<String>,
    /// Whether the interface that sends HTTP requests is one of them.
    pub sends_requests: bool,
    pub shapes: Arc<[StageShape]>,
}

impl ReadyPlugin {
    #[must_use]
    pub fn new(
        digest: Digest,
        compiled: CompiledForms,
        description: Description,
        imports: Vec<String>,
    ) -> Self {
        let shapes = description.stages.iter().map(|stage| StageShape {
            pool: stage.pool.as_str().into(),
            timeout: Micros::from_ms(stage.timeout_ms.into()),
            retries_max: stage.retries_max,
        });
        let sends_requests = capability::HTTP.imported_by(&imports).is_some();
        Self { digest, compiled, shapes: shapes.collect(), description, imports, sends_requests }
    }

    /// The digest of its compiled form for workers of an architecture, one of those that may join.
    #[must_use]
    pub fn compiled_for(&self, architecture: Architecture) -> Digest {
        self.compiled[&architecture]
    }

    /// Whether one of its stages runs on this pool.
    #[must_use]
    pub fn runs_on(&self, pool: &str) -> bool {
        self.shapes.iter().any(|shape| &*shape.pool == pool)
    }

    /// Whether two workers may run a stage of a request at once: nothing outside sees the second run, and both
    /// end alike.
    #[must_use]
    pub fn may_run_twice(&self) -> bool {
        self.description.deterministic && !self.sends_requests
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Description;

    /// A deterministic plugin without stages.
    pub(crate) fn description() -> Description {
        Description {
            name: "math".into(),
            version: "1.0.0".into(),
            summary: String::new(),
            stages: Vec::new(),
            settings_schema: String::new(),
            label_schema: String::new(),
            timeout_reward: 0.0,
            deterministic: true,
        }
    }
}
