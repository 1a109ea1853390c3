//! A whole server put together: its parts, started and stopped in order.

mod drift;
mod lock;
mod retention;
mod sampler;
mod samples;
mod server;
mod telemetry;
mod waiting;
mod webhooks;

pub use assay_link::RemoteSettings;
pub use retention::RetentionDefaults;
pub use server::{Server, Settings};
