//! The report on a compilation, which `assay-worker compile` and `cross-compile` print for the server and the command line.

use serde::{Deserialize, Serialize};

use crate::id::Digest;
use crate::plugin::Description;

/// The line that is printed; `T` says what a component was compiled to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompileReport<T> {
    /// The component was compiled.
    Ok(T),
    /// The component is at fault.
    Refused {
        /// The reason, for its author.
        message: String,
    },
    /// The machine is too busy; the same component may work later.
    Starved {
        /// The reason.
        message: String,
    },
}

/// A component that was compiled for this machine, and what it says that it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PluginReport {
    /// The digest of the component.
    pub digest: Digest,
    /// The code.
    #[serde(flatten)]
    pub code: CodeReport,
    /// The component's own description.
    pub description: Description,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// Whether nothing was compiled, because the known code is this component's.
    pub recalled: bool,
}

/// The code that the compiler wrote: all that is reported of a compilation for another architecture, for which the
/// component is not asked what it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CodeReport {
    /// The digest of the code.
    pub compiled_digest: Digest,
    /// The id of the engine that runs it.
    pub engine: String,
}
