//! The scaling planner: how many workers each pool needs so that no batch ends later than it must.
//!
//! Section 5 of the paper and what goes past it. Pure: `plan` takes the time and what is seen, and
//! returns what the pools are to hold, with reasons. It never touches the scheduler; the shell
//! carries the plan back as [`crate::Event::Planned`].

mod basis;
mod blocks;
mod collect;
mod decide;
mod drift;
mod history;
mod lanes;
mod problem;
mod rule;
mod search;
mod simulate;
mod tail;
mod tuning;
mod workload;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use assay_model::id::BatchId;
use assay_model::time::Micros;

pub use problem::{Flow, FlowStage, Problem, ProblemBatch, ProblemPool, ProblemRequest};
pub use rule::{Check, Rule, Simulated};
pub use search::search;
pub use simulate::simulate;
pub use tail::Tail;
pub use tuning::{Checked, Tuning};

use crate::config::Order;
use crate::profile::Profile;
use crate::scale::PoolPlan;
use crate::seen::Seen;
use collect::{Collected, Collector};
use history::History;

/// How the number of workers is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Plans again every few seconds and holds what is used until the next plan.
    Assay,
    /// As published: algorithms 1 and 2 with the timeout-aware check, at batch edges.
    Distrs,
    /// The paper's ablation: `Distrs` without the timeout-aware check.
    History,
    /// The paper's baseline: each run gets what its last batch would have used without queueing.
    Zq,
    /// Always the maximum of each pool; nothing is simulated.
    Fixed,
}

/// What an operator chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanConfig {
    pub mode: Mode,
    pub tuning: Tuning,
    /// The order in which the scheduler serves its queues.
    pub order: Order,
    /// The paper's D for runs that name none.
    pub tolerance: Micros,
    /// Only these are planned for.
    pub pools: BTreeMap<Arc<str>, PoolConfig>,
    /// Between two plans while a batch is live; `Assay` only.
    pub period: Micros,
    /// How long an announced batch is waited for at least, beyond what history says.
    pub patience: Micros,
}

impl PlanConfig {
    /// The defaults of a mode, for these pools.
    #[must_use]
    pub fn new(mode: Mode, pools: BTreeMap<Arc<str>, PoolConfig>) -> Self {
        Self {
            mode,
            tuning: Tuning::of(mode),
            order: Order::Ebf,
            tolerance: Micros::from_secs(2),
            pools,
            period: Micros::from_secs(10),
            patience: Micros::from_secs(60),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct PoolConfig {
    /// Workers that are there even when nothing is live.
    pub min: usize,
    /// The quota or the capacity, whichever is less.
    pub max: usize,
    /// The paper's C_j: what a worker costs a second, in any unit that the pools share.
    pub cost: f64,
    /// How long a start takes until one was measured.
    pub startup: Micros,
    /// How long a worker that the plan does not hold stays without work.
    pub linger: Micros,
}

impl PoolConfig {
    /// It always has as many.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.min == self.max
    }
}

/// What the pools are to hold, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub pools: Vec<PoolPlan>,
    /// When to plan again if nothing calls for it before.
    pub again: Option<Micros>,
    pub report: PlanReport,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlanReport {
    pub at: Micros,
    pub mode: Mode,
    pub pools: Vec<PoolReport>,
    /// Requests in SIMULATE, and how often it ran.
    pub requests: usize,
    pub simulations: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PoolReport {
    pub pool: Arc<str>,
    pub hold: usize,
    pub ceiling: usize,
    /// What it would take for no request to queue.
    pub zero_queue: usize,
    pub reason: Reason,
}

/// Why a pool's ceiling is what it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// Nothing is live that needs it.
    Idle,
    /// The mode says so.
    Mode,
    /// The configured minimum.
    Minimum,
    /// The quota, the pool's or its tenants': it would take `wanted`.
    Maximum { wanted: usize },
    /// A live batch has no history, its own or another's: it starts with few and grows.
    Unknown,
    /// The least there can be while something needs it.
    Needed,
    /// With one worker less this would happen.
    Bound(Bound),
}

/// What one worker less would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub batch: BatchId,
    pub run: Arc<str>,
    /// What the search found: one less would break it.
    pub workers: usize,
    pub stage: usize,
    /// Its request that is ready for the stage at this time ...
    pub ready: Micros,
    /// ... would start then, and that is too late, because
    pub start: Micros,
    pub because: Because,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// the batch would end later than it may.
    Late { end: Micros, by: Micros },
    /// it could run into its timeouts and end later than the batch may.
    MayTimeOut { latest: Micros, by: Micros },
    /// the expected delay by long runners, over all that queue, would pass its budget.
    Risk { expected: Micros, budget: Micros },
}

/// Keeps what history taught; owned by whoever plans.
#[derive(Debug)]
pub struct Planner {
    config: PlanConfig,
    history: History,
    /// What each pool's last search found; where the next one starts.
    last: BTreeMap<Arc<str>, usize>,
    /// What each pool was to hold by the last plans, the latest first.
    held: BTreeMap<Arc<str>, VecDeque<usize>>,
}

impl Planner {
    #[must_use]
    pub fn new(config: PlanConfig) -> Self {
        let history = History::new(config.tuning.history);
        Self { config, history, last: BTreeMap::new(), held: BTreeMap::new() }
    }

    /// From now on it plans so; what it has learned stays.
    pub fn configure(&mut self, config: PlanConfig) {
        self.config = config;
    }

    /// A batch was completed, or is read back after a restart; in order of completion.
    pub fn learn(&mut self, profile: Arc<Profile>) {
        self.history.learn(profile);
    }

    #[must_use]
    pub fn plan(&mut self, now: Micros, seen: &Seen) -> Plan {
        let collected = self.collect(now, seen);
        self.decide(&collected, seen)
    }

    /// Plans for a workload that the caller knows, in place of one guessed from history.
    #[must_use]
    pub fn plan_for(&mut self, problem: Problem, seen: &Seen) -> Plan {
        self.decide(&Collected::known(problem), seen)
    }

    fn collect(&self, now: Micros, seen: &Seen) -> Collected {
        let collector = Collector::new(now, &self.config, self.problem_pools());
        collector.collect(seen, |batch| self.history.basis(batch))
    }

    /// Those that are planned for. All others are one, the last: their names are the tenants', and
    /// a search takes longer the more pools there are.
    fn problem_pools(&self) -> Vec<ProblemPool> {
        let planned = self.config.pools.iter().map(|(name, pool)| ProblemPool {
            name: Arc::clone(name),
            cost: pool.cost,
            max: pool.max,
        });
        // No pool can be configured under this name.
        let others = ProblemPool { name: "".into(), cost: 0.0, max: usize::MAX };
        planned.chain([others]).collect()
    }
}
