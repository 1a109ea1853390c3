//! An upload on its way to a version: who publishes it, and the component that was compiled.

use assay_api::tenant::Grants;
use assay_core::id::{Digest, TenantId};
use assay_core::plugin::Description;
use assay_store::audit::Actor;
use tempfile::TempDir;

/// The tenant that publishes, the person or key that acts for it, and the tenant's grants.
pub struct Publisher<'a> {
    pub tenant: TenantId,
    pub actor: &'a Actor,
    pub grants: &'a Grants,
}

/// A component that was compiled; nothing is stored of it yet.
pub struct AcceptedUpload {
    pub(crate) description: Description,
    pub(crate) imports: Vec<String>,
    pub(crate) digest: Digest,
    /// The size of the component.
    pub(crate) bytes: u64,
    pub(crate) compiled_digest: Digest,
    /// The folder with the component and its compiled form.
    pub(crate) folder: TempDir,
}

impl AcceptedUpload {
    /// The name of the plugin.
    pub fn name(&self) -> &str {
        &self.description.name
    }
}
