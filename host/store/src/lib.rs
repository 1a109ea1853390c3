//! All SQL. PostgreSQL is the truth: everything that is acknowledged or shown was committed here first.
//!
//! One file for each group of tables. Every query on a tenant's table takes a `TenantId`; the
//! exceptions serve the platform itself (key look-up, restore) and say so. The store knows nothing of
//! HTTP.

pub mod acknowledgements;
pub mod admissions;
mod artifacts;
pub mod audit;
pub mod batches;
pub mod capacity;
pub mod channels;
mod connection;
mod dispatch_store;
mod ends;
mod error;
pub mod golden_cases;
pub mod group_commit;
pub mod history;
pub mod identities;
pub mod keys;
mod listed;
mod lock;
pub mod members;
pub mod operations;
pub mod outcomes;
pub mod people;
pub mod plugins;
pub mod remote_workers;
pub mod requests;
pub mod restore;
pub mod results;
pub mod retention;
pub mod runs;
pub mod samples;
pub mod seed;
mod segments;
pub mod sessions;
pub mod single;
pub mod summaries;
pub mod tenants;
pub mod usage;
pub mod views;
pub mod webhooks;

pub use connection::Store;
pub use dispatch_store::{CommitError, DispatchStore};
pub use error::{DATABASE_FAILURES, StoreError, is_connection_loss};
pub use listed::ListedRows;
pub use lock::{DispatcherLock, HolderWatch, LockHolder};

#[cfg(test)]
mod test_cluster;
#[cfg(test)]
mod tests;
