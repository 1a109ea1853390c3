//! Assay's REST interface as a typed asynchronous client, and the engine of `assay score`.
//!
//! [`Client`] has one method for each call, repeats what is safe to repeat, and tells a person
//! what to do when a call fails ([`Error`]). [`score`] streams a file of any size through batches.
//! It must never turn a failure into a number, never print, and never depend on the server.

mod error;

mod call;

mod lines;

mod batches;
mod capacity;
mod events;
mod history;
mod operations;
mod people;
mod plugins;
mod requests;
mod results;
mod tenants;
mod tls;
mod views;
mod webhooks;

pub mod score;

pub use call::{Client, Retry};
pub use error::Error;
pub use events::{ServerEvent, ServerEvents};
pub use operations::TenantFilter;
pub use plugins::{Publication, Upload};
pub use results::ResultStream;
pub use tls::install_tls_provider;
pub use views::Filters;
