//! The engines of workers for which plugins are compiled: one for each architecture, this machine's among them.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::architecture::Architecture;

/// The ids of the engines; cheap to clone.
#[derive(Debug, Clone)]
pub struct Engines(Arc<BTreeMap<Architecture, String>>);

impl Engines {
    /// One of them must be this machine's.
    #[must_use]
    pub fn new(ids: BTreeMap<Architecture, String>) -> Self {
        Self(Arc::new(ids))
    }

    /// The architecture of the engine with this id, if plugins are compiled for it.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Architecture> {
        self.0.iter().find(|(_, engine)| *engine == id).map(|(architecture, _)| *architecture)
    }

    /// The id of an architecture's engine, which must be one of them.
    #[must_use]
    pub fn id(&self, architecture: Architecture) -> &str {
        &self.0[&architecture]
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }

    pub fn architectures(&self) -> impl Iterator<Item = Architecture> {
        self.0.keys().copied()
    }
}
