//! JSON schemas that plugins declare for settings and labels: bounded, compiled, and applied to values.
//!
//! Schemas come from tenants and are evaluated in the server. So a schema is measured before it is compiled:
//! the work that it can cause is its size, with every `$ref` replaced by its target, times the size of the
//! value. `bounds` says what is allowed, `mismatch` puts an error into words.

mod bounds;
mod mismatch;
mod schema;

pub use mismatch::Mismatch;
pub use schema::{PluginSchemas, Schema, SchemaRefused, ValidationWork};
