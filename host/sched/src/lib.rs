//! The pure core: which request runs when, on which worker.
//!
//! `Sched::step(now, event)` returns actions; the server and the simulator carry them out. No
//! clock, no I/O, no ambient randomness, ordered maps only: the same events give the same actions.

mod action;
mod config;
mod event;

mod answer;
mod batch;
mod division;
mod estimate;
mod follow;
mod grant;
mod plan;
mod pool;
mod profile;
mod queue;
mod request;
mod scale;
mod sched;
mod seen;
mod seq_set;
mod share;
mod snapshot;
mod timer;
mod wanted;
mod watched;
mod worker;

pub use action::{Action, BatchDone, BatchEnding, FinalEnd, Finish, Grant, StageTiming};
pub use config::{Config, Order};
pub use event::{
    End, Event, FollowerEnd, NewBatch, NewRequest, Progress, Released, SharedEnd, StageShape,
};
pub use plan::{
    Because, Bound, Check, Checked, Flow, FlowStage, Mode, Plan, PlanConfig, PlanReport, Planner,
    PoolConfig, PoolReport, Problem, ProblemBatch, ProblemPool, ProblemRequest, Reason, Rule,
    Simulated, Tail, Tuning, search, simulate,
};
pub use profile::{Ending, Profile, ProfileRequest};
pub use scale::PoolPlan;
pub use sched::Sched;
pub use seen::{BatchSeen, PoolSeen, RunningSeen, Seen, StageSeen};
pub use share::{Share, Weight};
pub use snapshot::{PoolSnapshot, Snapshot, TenantSnapshot};
pub use watched::{HeadWatched, WorkerWatched};
