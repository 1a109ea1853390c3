//! The stages of plugins.

use std::sync::Arc;

use assay_core::time::Micros;

/// A stage of a plugin, as far as the scheduler knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageShape {
    /// The pool whose workers run it.
    pub pool: Arc<str>,
    /// The time limit of one run.
    pub timeout: Micros,
    /// Retries when the plugin or a capability failed in a way that may pass.
    pub retries_max: u32,
}
