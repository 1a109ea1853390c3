//! The pure planner: how many workers each pool needs so that no batch ends later than it may.
//!
//! It implements section 5 of the paper and extends it. `Planner::plan` takes the time and a view of the
//! scheduler, and returns a plan with a reason for each number. It never touches the scheduler: the
//! dispatcher passes the plan on as [`assay_sched::Event::Planned`].

#![warn(missing_docs)]

mod config;
mod plan;
mod planner;
mod policy;

mod basis;
mod blocks;
mod collect;
mod decide;
mod decision;
mod drift;
mod edges;
mod forecast;
mod history;
mod holding;
mod lanes;
mod pool_config;
mod problem;
mod reason;
mod rule;
mod search;
mod simulate;
mod tail;
mod tuning;
mod unreached;
mod workload;

pub use config::PlanConfig;
pub use forecast::{Forecast, Forecasts};
pub use plan::{Plan, PlanReport, PoolReport};
pub use planner::Planner;
pub use policy::Policy;
pub use pool_config::PoolConfig;
pub use problem::{Flow, FlowStage, Problem, ProblemBatch, ProblemPool, ProblemRequest};
pub use reason::{Bound, Reason};
pub use rule::{Check, LateReason, Rule, Simulated};
pub use search::search;
pub use simulate::simulate;
pub use tail::Tail;
pub use tuning::{Checked, Tuning};
