//! Workload generators: seeded traces in place of recorded ones.
//!
//! A `Spec` says who trains (`Trainer`), what the rewards are (`Rewards`) and when the workload
//! shifts; `generate` turns it into a `Trace`. Each iteration of each task draws from a stream of
//! its own, so that more tasks or iterations leave those before as they were. Nothing here may ask
//! for memory before `check` has bounded the whole trace.

mod check;
mod generation;
mod learning;
mod random;
mod tools;

mod trainer;

mod agent;
mod cuda;
mod judge;
mod mixture;

use serde::{Deserialize, Serialize};

use crate::trace::{Meta, Trace, TraceRequest, TraceStage};
use random::Random;

pub use agent::Agent;
pub use check::{REQUESTS_MAX, SpecError};
pub use cuda::Cuda;
pub use generation::{Engine, Lengths};
pub use judge::{Judge, Programs};
pub use mixture::{Mixture, TaskKind};
pub use trainer::Trainer;

/// Everything a trace is made from. Each field has a default; an unknown one is refused.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    pub seed: u64,
    pub trainer: Trainer,
    pub rewards: Rewards,
    /// Sudden changes of the workload; the last one reached is in force.
    pub shifts: Vec<Shift>,
}

/// The kind of a reward's computation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rewards {
    Cuda(Cuda),
    Judge(Judge),
    Mixture(Mixture),
    Agent(Agent),
}

impl Default for Rewards {
    fn default() -> Self {
        Self::Cuda(Cuda::default())
    }
}

/// From this iteration on, the workload is not what its history says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shift {
    pub at_iteration: u32,
    /// Factors on output lengths, on what executes, checks or grades, and on what compiles.
    pub length: f64,
    pub execute: f64,
    pub compile: f64,
    /// The share of executions that run to their timeout, in place of the workload's own.
    pub timeouts: Option<f64>,
}

impl Default for Shift {
    fn default() -> Self {
        Self { at_iteration: 0, length: 1.0, execute: 1.0, compile: 1.0, timeouts: None }
    }
}

/// One iteration of one task, as its requests are drawn.
struct Moment {
    batch: u32,
    group_size: u32,
    /// The progress of the training: 0 at its first iteration, 1 at its last.
    progress: f64,
    data_set: Option<DataSet>,
    shift: Shift,
}

/// The problems that the tasks go through in order, and the first of an iteration.
#[derive(Clone, Copy)]
struct DataSet {
    seed: u64,
    problems: u32,
    first: u32,
}

impl Moment {
    /// The numbers and sizes of the batch's groups; the last takes what is left.
    fn groups(&self) -> impl Iterator<Item = (u32, u32)> {
        let (batch, size) = (self.batch, self.group_size);
        let number = move |group| match self.data_set {
            Some(DataSet { problems, first, .. }) => (first + group) % problems,
            None => group,
        };
        (0..batch.div_ceil(size)).map(move |group| (number(group), size.min(batch - group * size)))
    }

    /// The stream from which the properties of a group's problem are drawn, if they are the same whenever it returns.
    fn problem_random(&self, group: u32) -> Option<Random> {
        self.data_set.map(|data_set| Random::of_problem(data_set.seed, group))
    }

    /// The requests of all groups: `draw` makes the properties that the samples of one prompt share, `sample` one of them.
    fn requests<P>(
        &self,
        random: &mut Random,
        draw: impl Fn(&mut Random) -> P,
        sample: impl Fn(&P, &mut Random) -> TraceRequest,
    ) -> Vec<TraceRequest> {
        let mut requests = Vec::with_capacity(self.batch as usize);
        for (group, size) in self.groups() {
            let mut own = self.problem_random(group);
            let prompt = draw(own.as_mut().unwrap_or(random));
            for _ in 0..size {
                requests.push(TraceRequest { group, ..sample(&prompt, random) });
            }
        }
        requests
    }
}

impl Rewards {
    fn name(&self) -> &'static str {
        match self {
            Self::Cuda(_) => "cuda",
            Self::Judge(_) => "judge",
            Self::Mixture(_) => "mixture",
            Self::Agent(_) => "agent",
        }
    }

    fn stages(&self) -> Vec<TraceStage> {
        match self {
            Self::Cuda(_) => cuda::stages(),
            Self::Judge(_) => judge::stages(),
            Self::Mixture(mixture) => mixture.stages(),
            Self::Agent(agent) => agent.stages(),
        }
    }

    /// A batch in the order of its rollouts' ends, numbered.
    fn requests(&self, moment: &Moment, random: &mut Random) -> Vec<TraceRequest> {
        let mut requests = match self {
            Self::Cuda(cuda) => cuda.requests(moment, random),
            Self::Judge(judge) => judge.requests(moment, random),
            Self::Mixture(mixture) => mixture.requests(moment, random),
            Self::Agent(agent) => agent.requests(moment, random),
        };
        requests.sort_by_key(|request| request.rollout);
        for (number, request) in (0..).zip(&mut requests) {
            request.request = number;
        }
        requests
    }
}

impl Spec {
    /// The change that is in force at an iteration.
    fn shift_at(&self, iteration: u32) -> Shift {
        let reached = self.shifts.iter().filter(|shift| shift.at_iteration <= iteration);
        reached.max_by_key(|shift| shift.at_iteration).copied().unwrap_or_default()
    }
}

/// Draws the trace which a specification describes.
///
/// # Errors
/// Names the first field that is out of its range, or the whole if it is too large.
pub fn generate(spec: &Spec) -> Result<Trace, SpecError> {
    spec.check()?;
    let tasks = (0..spec.trainer.tasks).map(|id| trainer::task(spec, id)).collect();
    let meta = Meta {
        stages: spec.rewards.stages(),
        mode: spec.trainer.mode,
        generator: format!("assay-sim {}", spec.rewards.name()),
        seed: spec.seed,
        spec: serde_json::to_value(spec)
            .expect("a specification has string keys and finite numbers"),
    };
    Ok(Trace { meta, tasks })
}

#[cfg(test)]
mod tests;
