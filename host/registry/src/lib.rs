//! Plugins from upload to execution: stored by content, compiled in a worker process (which contains
//! a hostile upload), resolved by name.

mod publish;
mod registry;

mod cases;
mod compile;
mod upload;

mod grants;
mod reference;
mod validation;

mod error;

pub use cases::{CaseGrants, CaseMode, CaseSettings};
pub use error::RegistryError;
pub use grants::check_grants;
pub use reference::Reference;
pub use registry::{Registry, RegistrySettings};
pub use upload::{AcceptedUpload, Publisher};
pub use validation::{Validation, ValidationError};
