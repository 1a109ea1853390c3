//! The pure core: which request runs when, on which worker.
//!
//! `Sched::step(now, event)` returns actions; the server and the simulator carry them out. No
//! clock, no I/O, no ambient randomness, ordered maps only: the same events give the same actions.

#![warn(missing_docs)]

mod action;
mod config;
mod event;

mod answer;
mod batch;
mod estimate;
mod fair_queue;
mod grant;
mod lru_map;
mod pool;
mod priority;
mod profile;
mod queue;
mod request;
mod scale;
mod sched;
mod seq_set;
mod share;
mod timer;
mod view;
mod waiters;
mod worker;

pub use action::{Action, BatchDone, BatchEnding, FinalEnd, Finish, Grant, StageTiming};
pub use config::{Config, Order};
pub use event::{
    End, Event, NewBatch, NewRequest, Progress, Released, SharedEnd, StageShape, WaiterEnd,
};
pub use lru_map::LruMap;
pub use profile::{Ending, Profile, ProfileRequest};
pub use scale::PoolPlan;
pub use sched::Sched;
pub use share::{Share, Weight};
pub use view::{
    BatchView, PoolSnapshot, PoolView, RunningLease, RunningView, SchedView, Snapshot, StageView,
    TenantSnapshot, WorkerView,
};
