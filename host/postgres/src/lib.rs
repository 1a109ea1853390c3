//! A private PostgreSQL cluster in a data folder, for an Assay without a `DATABASE_URL`.
//!
//! Owns everything under `<data>/postgres`: it makes the cluster, starts it on a Unix socket, keeps
//! it running and stops it. It speaks no SQL and knows nothing of Assay's tables.
//!
//! It must never listen on TCP, never touch another PostgreSQL of the machine, and never trade a
//! committed row for speed.
//!
//! ```text
//! <data>/assay.lock             held by the Assay that owns the folder; its process id inside
//! <data>/postgres/              0700, owned by the user the server runs as
//!   cluster/                    PostgreSQL's own files, and assay.conf, rewritten at every start
//!   socket/                     the Unix socket, unless its path is too long for one
//!   server.log                  what the server says
//! ```

mod cluster;
mod error;
mod folder;
mod initialize;
mod launch;
mod log;
mod owner;
mod postmaster;
mod process;
mod programs;
mod settings;

pub use cluster::{Cluster, Options};
pub use error::Error;
pub use folder::default_data_folder;
pub use programs::find_programs;
