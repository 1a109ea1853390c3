//! What a plugin may ask for beyond the empty system interface, a file or a folder each.
//!
//! A component that imports none of it costs nothing here; one that does is given [`Capabilities`]
//! for each call, and finds everything unavailable in a call without (while it describes itself).

pub mod exec;
pub mod folder;
pub mod log;
pub mod storage;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use assay_exec::Exec;
use assay_model::id::TenantId;

use storage::Storage;

/// What one stage may use, and in whose name.
#[derive(Clone)]
pub struct Capabilities {
    pub tenant: TenantId,
    /// One call at a time: a stage that finds it in use waits.
    pub exec: Arc<Mutex<Exec>>,
    pub storage: Arc<dyn Storage>,
}

/// Whether the interface, by its name without a version, is one of those in [`Capabilities`].
pub(crate) fn is_granted(interface: &str) -> bool {
    matches!(interface, "assay:exec/exec" | "assay:exec/types" | "assay:reward/storage")
}

/// Whether the call's time is over.
///
/// A host function that took until then ends the guest itself: the epoch would do so some
/// instructions later, in which a guest might still return something.
pub(crate) fn is_over(deadline: Instant) -> bool {
    Instant::now() >= deadline
}
