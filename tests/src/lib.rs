//! The tools that all end-to-end tests share: real servers, real workers, a real PostgreSQL.
//!
//! It knows Assay's programs and its REST interface, and nothing of its insides.

mod answers;
mod boxes;
mod browser;
mod bucket;
mod command;
mod database;
mod host;
mod http;
mod place;
mod process;
mod psql;
mod sampled;
mod sleepers;
mod slurm;
mod spawned;
mod wait;

pub use answers::{Answers, item, ndjson};
pub use boxes::is_root;
pub use browser::{Browser, CSRF};
pub use bucket::Bucket;
pub use command::{CommandResult, assay};
pub use host::{Host, HostOptions};
pub use http::{Answer, Http};
pub use place::{checkout, component, component_path, plugins_of_workers, program, shared};
pub use process::{Process, poll, signal};
pub use psql::Psql;
pub use sampled::{long, sampled};
pub use sleepers::Sleepers;
pub use slurm::{Node, Slurm};
pub use spawned::Spawned;
pub use wait::{until, until_good};
