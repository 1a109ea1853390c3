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
mod discipline;
mod entitlement;
mod estimate;
mod fair_queue;
mod grant;
mod hedge;
mod held;
mod hold;
mod lru_map;
mod plan;
mod pool;
mod pools;
mod preempt;
mod priority;
mod profile;
mod queue;
mod request;
mod run_queues;
mod scale;
mod sched;
mod seq_map;
mod seq_set;
mod slowness;
mod stage;
mod timer;
mod view;
mod waiters;
mod worker;

pub use action::{
    Action, BatchDone, BatchEnding, FinalEnd, Finish, Grant, KillReason, StageTiming,
};
pub use config::Config;
pub use discipline::{Consumes, Discipline, Ranking};
pub use entitlement::{Entitlement, Weight};
pub use event::{End, Event, NewBatch, NewRequest, Progress, Released, SharedEnd, WaiterEnd};
pub use held::HeldStages;
pub use lru_map::LruMap;
pub use plan::PoolPlan;
pub use profile::{Ending, Profile, ProfileRequest};
pub use sched::Sched;
pub use stage::StageShape;
pub use view::{
    BatchView, HeldView, PoolView, RunningLease, RunningView, SchedView, StageView, TenantView,
    WorkerView,
};
