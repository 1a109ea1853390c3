//! The form of a response: whether it consists of the tagged sections that a run asks for. README.md
//! states the rules.
//!
//! It owns no state and reads no label: what the sections say is none of its business.

mod form;
mod plugin;
mod settings;

pub use form::{Form, Verdict, read};
pub use plugin::Format;
pub use settings::Settings;

assay_plugin::export!(Format);
