//! A reward trace: what trainers sent and how long each stage of each request ran.
//!
//! Read from and written as gzip-free JSON lines of format `assay-reward-trace-1`. Never changed by a
//! run: the engine keeps what it does apart from it.

mod read;
mod write;

use std::fmt;

use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

pub use read::{TraceError, read};
pub use write::write;

/// The name that the first line of a trace bears.
pub const FORMAT: &str = "assay-reward-trace-1";

#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub meta: Meta,
    /// The tasks by id.
    pub tasks: Vec<Task>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    pub stages: Vec<TraceStage>,
    pub mode: TrainerMode,
    /// The program that made the trace, with its settings and seed.
    pub generator: String,
    pub seed: u64,
    pub spec: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TraceStage {
    pub name: String,
    /// The pool whose workers serve it; `None`: one of its own, with the stage's name. Stages may share a
    /// pool if they cost the same.
    pub pool: Option<String>,
    pub timeout: Micros,
    /// The paper's C_j: what a worker of this stage costs a second, in any unit the stages share.
    pub cost: f64,
}

/// Workers that serve one or several stages.
#[derive(Debug, Clone, PartialEq)]
pub struct TracePool {
    pub name: String,
    pub cost: f64,
}

/// Two stages share a pool, and its workers would have two costs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "stages `{}` and `{}` share the pool `{pool}` but cost {} and {}: give them one cost, or a pool each",
    stages[0], stages[1], costs[0], costs[1]
)]
pub struct UnlikeCosts {
    pub pool: String,
    pub stages: [String; 2],
    pub costs: [f64; 2],
}

/// When a trainer starts its next rollout. A trace says `colocated`, `disaggregated` or, with more steps,
/// `disaggregated:2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum TrainerMode {
    /// One set of machines: after the training that the batch's rewards fed.
    Colocated,
    /// Two sets: rollouts go on with weights that lack the last trainings.
    Disaggregated {
        /// The number of trainings that the weights may lack, from 1.
        stale: u32,
    },
}

/// The steps by which weights may be stale at most.
pub const STALE_MAX: u32 = 64;

/// One training run.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: u32,
    /// The tenant of the run; all runs with `None` belong to one more tenant.
    pub tenant: Option<String>,
    /// The start of its first rollout.
    pub start: Micros,
    /// The iterations by number; the first is history only.
    pub iterations: Vec<Iteration>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    pub number: u32,
    /// Absolute, if every extra delay were zero.
    pub rollout_start: Micros,
    /// The times of the rollout, of the training after it, and of the transfer of the weights.
    pub rollout: Micros,
    pub train: Micros,
    pub sync: Micros,
    pub requests: Vec<TraceRequest>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TraceRequest {
    pub request: u32,
    pub group: u32,
    /// The tokens of the response; zero where the trace has none.
    pub tokens: u32,
    /// The time at which it is sent, from the rollout's start.
    pub rollout: Micros,
    /// s_ij, a stage each, cut at the stage's timeout; `None`: not reached.
    pub service: Vec<Option<Micros>>,
    pub outcome: String,
}

impl TraceStage {
    /// The name of its pool.
    #[must_use]
    pub fn pool(&self) -> &str {
        self.pool.as_deref().unwrap_or(&self.name)
    }
}

impl Meta {
    /// The pools in the order of the first stages that they serve.
    ///
    /// # Errors
    /// When stages of one pool differ in cost.
    pub fn pools(&self) -> Result<Vec<TracePool>, UnlikeCosts> {
        let mut firsts: Vec<&TraceStage> = Vec::new();
        for stage in &self.stages {
            match firsts.iter().find(|first| first.pool() == stage.pool()) {
                None => firsts.push(stage),
                Some(first) if first.cost == stage.cost => {}
                Some(first) => {
                    return Err(UnlikeCosts {
                        pool: stage.pool().to_owned(),
                        stages: [first.name.clone(), stage.name.clone()],
                        costs: [first.cost, stage.cost],
                    });
                }
            }
        }
        let pool =
            |first: &TraceStage| TracePool { name: first.pool().to_owned(), cost: first.cost };
        Ok(firsts.into_iter().map(pool).collect())
    }
}

impl TraceRequest {
    /// The times of all stages together.
    #[must_use]
    pub fn service_sum(&self) -> Micros {
        self.service.iter().flatten().fold(Micros::ZERO, |sum, time| sum + *time)
    }

    /// t_i (eq. 1), from the rollout's start.
    #[must_use]
    pub fn earliest_end(&self) -> Micros {
        self.rollout + self.service_sum()
    }
}

impl Iteration {
    /// T (eq. 2), from the rollout's start.
    #[must_use]
    pub fn earliest_end(&self) -> Micros {
        self.requests.iter().map(TraceRequest::earliest_end).max().unwrap_or_default()
    }
}

impl fmt::Display for TrainerMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Colocated => f.write_str("colocated"),
            Self::Disaggregated { stale: 1 } => f.write_str("disaggregated"),
            Self::Disaggregated { stale } => write!(f, "disaggregated:{stale}"),
        }
    }
}

impl From<TrainerMode> for String {
    fn from(mode: TrainerMode) -> Self {
        mode.to_string()
    }
}

impl TryFrom<String> for TrainerMode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let stale = match text.as_str() {
            "colocated" => return Ok(Self::Colocated),
            "disaggregated" => Some(1),
            _ => text.strip_prefix("disaggregated:").and_then(|stale| stale.parse().ok()),
        };
        let stale = stale.filter(|stale| (1..=STALE_MAX).contains(stale)).ok_or_else(|| {
            format!(
                "a trainer is `colocated`, `disaggregated` or `disaggregated:N` with N from 1 to {STALE_MAX}, not `{text}`"
            )
        })?;
        Ok(Self::Disaggregated { stale })
    }
}
