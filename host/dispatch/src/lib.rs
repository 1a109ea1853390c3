//! The one loop that owns the scheduler, and the handle through which everybody talks to it.
//!
//! Commands come in, the pure core decides, `perform` carries it out. Nothing here waits for
//! Postgres or a worker: what is to be written goes to the two group commits, and comes back
//! when it is durable. Only then is it acknowledged (admissions) or shown (the committed view).

mod handle;

mod command;

mod request_metrics;
mod shell;
mod silence;

mod hold;
mod logs;
mod perform;
mod submissions;
mod waiters;

mod admission;
mod batch;
mod live_batches;
mod single;
mod traces;
mod workers;

pub mod budget;
pub mod fair_semaphore;
mod quota;
pub mod secrets;
pub mod tenants;

mod dedup;

pub mod batch_stats;
pub mod committed;
mod publish;

mod capacity;
pub mod history;
pub mod planning;

mod incidents;
mod observe;

mod restore;

mod engines;
mod plugin;

pub use assay_clock::now;
pub use assay_planner::{PlanConfig, Policy};
pub use assay_sched::{Discipline, Profile, SchedView};
pub use engines::Engines;
pub use handle::{Announcement, Dispatch, DispatchError, ItemFate, NewItem, Parts};
pub use incidents::{INCIDENTS, WrittenIncident};
pub use observe::Observed;
pub use plugin::{CompiledForms, Plugins, ReadyPlugin};
pub use quota::TenantUse;
pub use workers::{Joining, LastContact, LeaseClaim, WorkerLink, count_run_delay};
