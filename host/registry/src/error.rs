//! The reasons why a plugin cannot be published or used; the variant says whose fault it is.

use assay_core::architecture::Architecture;
use assay_storage::blob::BlobError;
use assay_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The plugin is at fault, so its author can fix it.
    #[error("{0}")]
    Refused(String),
    /// The plugin imports something that its tenant was not granted.
    #[error("{0}")]
    NotGranted(String),
    /// A golden case of the upload failed.
    #[error("{0}")]
    CaseFailed(String),
    /// The machine could not run the golden cases; the same upload may work later.
    #[error("{0}")]
    CasesUnavailable(String),
    /// The machine was too busy to compile the plugin; the same upload may work later.
    #[error("{0}")]
    CompilerBusy(String),
    /// A reference names no plugin, channel or version of its tenant.
    #[error("{0}")]
    NoPlugin(String),
    /// The version is known, but its component is not stored.
    #[error("the component of {0} is not stored")]
    ComponentMissing(String),
    /// The server's folder for compilations cannot be written or read, as on a full disk.
    #[error("the folder for compilations cannot be used: {0}")]
    Scratch(std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("the plugin could not be compiled: {0:#}")]
    Compiler(anyhow::Error),
}

impl RegistryError {
    /// The same with the architecture for which the plugin was compiled, where that is not this machine's.
    pub(crate) fn for_architecture(self, architecture: Architecture) -> Self {
        match self {
            Self::Refused(why) => Self::Refused(format!("for workers on {architecture}: {why}")),
            other => other,
        }
    }
}
