//! The simulator: reward traces replayed on a virtual clock, by the very scheduler and planner that
//! run live.
//!
//! No clock, no I/O beyond the reader and writer it is given, no ambient randomness: the same trace,
//! settings and seed give the same report, planner times aside.

pub mod trace;
pub mod workload;

pub mod cells;
pub mod faults;
pub mod policy;

mod account;
mod engine;
pub mod fair;
pub mod load;
pub mod report;
pub mod vectors;

pub mod plot;

pub use account::{BatchRun, PoolUse, Sample, Served, TenantUse, Timeline};
pub use engine::{PlannerTimes, Run, SimulateError, Watch, simulate};
