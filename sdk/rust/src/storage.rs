//! Test cases and reference data, read-only, under roots that the operator granted to the tenant.
//!
//! ```no_run
//! use assay_plugin::storage;
//!
//! let statement = storage::get("judge/sum/problem.yaml")?;
//! let digest = storage::locate("judge/sum/data/secret/1.in")?;
//! # Ok::<(), assay_plugin::Error>(())
//! ```
//!
//! Only a component has a host to call: in a native test these functions panic.

pub use crate::bindings::assay::reward::storage::{Error, get, locate, names};

use crate::Error as PluginError;

/// A fault of the platform's stays one, so that the host tries again.
impl From<Error> for PluginError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound(name) => Self::BadRequest(format!("there is no object `{name}`")),
            Error::Denied(problem) => Self::BadRequest(problem),
            Error::Unavailable(problem) => Self::Unavailable(problem),
            Error::TooLarge(bytes) => {
                Self::BadRequest(format!("the object has {bytes} bytes, too many to read at once"))
            }
        }
    }
}
