//! Read-only copies of the scheduler's state, for the planner and for people.
//!
//! They are taken between two steps and decide nothing.

mod planner;
mod snapshot;
mod workers;

pub use planner::{BatchView, PoolView, RunningView, SchedView, StageView};
pub use snapshot::{PoolSnapshot, Snapshot, TenantSnapshot};
pub use workers::{RunningLease, WorkerView};
