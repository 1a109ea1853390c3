//! Programs that are ready to run, kept for each tenant under a hash of everything that they were made from.
//!
//! A [`ProgramArtifact`] is only a name and takes little memory. The program itself is in the store: on disk for all
//! workers of a machine, and in memory for the next run. Both may drop it; then it must be compiled again.

mod content;
mod key;
mod sealed;
mod store;

use assay_core::id::{Digest, TenantId};

pub(crate) use content::{ArtifactContent, LoadedProgram, ProgramContent};
pub(crate) use key::Recipe;
pub use sealed::sealed;
pub(crate) use store::ArtifactStore;

/// The name of a program that is ready to run. Only its tenant can use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramArtifact {
    tenant: TenantId,
    key: Digest,
    toolchain: String,
    size_bytes: u64,
}

impl ProgramArtifact {
    pub(crate) fn new(tenant: TenantId, key: Digest, loaded: &LoadedProgram) -> Self {
        Self { tenant, key, toolchain: loaded.toolchain.clone(), size_bytes: loaded.size_bytes }
    }

    pub(crate) fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The SHA-256 of everything that it was made from, with its tenant.
    #[must_use]
    pub fn key(&self) -> Digest {
        self.key
    }

    /// The id of the toolchain that made it.
    #[must_use]
    pub fn toolchain(&self) -> &str {
        &self.toolchain
    }

    /// The size of its files in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}
