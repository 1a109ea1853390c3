//! The pure core: which request runs when, on which worker.
//!
//! `Sched::step(now, event)` returns actions; the server and the simulator carry them out. No
//! clock, no I/O, no ambient randomness, ordered maps only: the same events give the same actions.

mod action;
mod config;
mod event;

mod answer;
mod batch;
mod estimate;
mod grant;
mod pool;
mod queue;
mod request;
mod sched;
mod seq_set;
mod snapshot;
mod timer;
mod worker;

pub use action::{Action, BatchDone, BatchEnding, FinalEnd, Finish, Grant, StageTiming};
pub use config::{Config, Order};
pub use event::{End, Event, NewBatch, NewRequest, Progress, StageShape};
pub use sched::Sched;
pub use snapshot::{PoolSnapshot, Snapshot};
