//! Programs that are ready to run, kept per tenant by what they were made from.
//!
//! An [`Artifact`] is a name: whoever holds many holds no memory. What it names lies in the store, on
//! disk for all workers of a machine and in memory for the next run, and may be pushed out of both:
//! then it must be compiled again.

mod content;
mod key;
mod sealed;
mod store;

use assay_model::id::{Digest, TenantId};

pub(crate) use content::{Content, Loaded, Program};
pub(crate) use key::Recipe;
pub use sealed::sealed;
pub(crate) use store::Store;

/// A program that is ready to run; its tenant's alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    tenant: TenantId,
    key: Digest,
    toolchain: String,
    size_bytes: u64,
}

impl Artifact {
    pub(crate) fn new(tenant: TenantId, key: Digest, loaded: &Loaded) -> Self {
        Self { tenant, key, toolchain: loaded.toolchain.clone(), size_bytes: loaded.size_bytes }
    }

    pub(crate) fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// SHA-256 of all that it was made from, its tenant included.
    #[must_use]
    pub fn key(&self) -> Digest {
        self.key
    }

    #[must_use]
    pub fn toolchain(&self) -> &str {
        &self.toolchain
    }

    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}
