//! Plugins from upload to execution: stored by content, compiled in a worker process (which contains
//! a hostile upload), resolved by name.

mod registry;

mod cases;
mod compile;
mod turns;

mod grants;
mod reference;
mod validation;

mod error;

pub use cases::{CaseGrants, CaseRuns, CaseSettings};
pub use error::RegistryError;
pub use grants::check_grants;
pub use reference::Reference;
pub use registry::{Accepted, Publisher, Registry};
pub use validation::Validation;
