//! Plugins from upload to execution: stored by content, compiled in a worker process (which contains
//! a hostile upload), resolved by name.

mod registry;

mod compile;

mod grants;
mod reference;
mod validation;

mod error;

pub use error::RegistryError;
pub use grants::check_grants;
pub use reference::Reference;
pub use registry::{Publisher, Registry};
pub use validation::Validation;
