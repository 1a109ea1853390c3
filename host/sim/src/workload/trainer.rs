//! The trainers: how many tasks, how large, and when their iterations start.
//!
//! The times of a trace are those of a trainer that never waits: every extra delay is zero.

use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use super::check::{Checker, REQUESTS_MAX, SpecError};
use super::random::Random;
use super::{DataSet, Moment, Spec};
use crate::trace::{Iteration, Task, TrainerMode};

/// The training runs of a trace, all alike but for chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trainer {
    pub mode: TrainerMode,
    pub tasks: u32,
    /// The time between the starts of two tasks, in seconds.
    pub stagger_s: f64,
    pub iterations: u32,
    pub first_iteration: u32,
    /// Iterations of the whole training, of which the trace shows a part; sets how far it is.
    pub horizon: u32,
    /// Requests of an iteration, and of a prompt.
    pub batch: u32,
    pub group_size: u32,
    /// The least part of `batch` that an iteration has, from 0 to 1: each has a size of its own, of whole groups. 1: all
    /// have `batch`.
    #[serde(skip_serializing_if = "is_whole")]
    pub batch_least: f64,
    /// The number of problems of the data set that all tasks go through in order, again and again; a group then has its
    /// problem's number. Without one, every group is a new problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<u32>,
    pub train_s: f64,
    pub train_jitter: f64,
    /// The time to hand over the new weights, in seconds.
    pub sync_s: f64,
}

impl Default for Trainer {
    fn default() -> Self {
        Self {
            mode: TrainerMode::Colocated,
            tasks: 1,
            stagger_s: 60.0,
            iterations: 50,
            first_iteration: 0,
            horizon: 50,
            batch: 2_048,
            group_size: 16,
            batch_least: 1.0,
            problems: None,
            train_s: 205.0,
            train_jitter: 0.02,
            sync_s: 5.0,
        }
    }
}

impl Trainer {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let checker = Checker { part: "trainer" };
        checker.within("tasks", f64::from(self.tasks), 1.0, 1_000.0)?;
        checker.within("stagger_s", self.stagger_s, 0.0, 1e6)?;
        checker.within("iterations", f64::from(self.iterations), 1.0, 100_000.0)?;
        checker.within("horizon", f64::from(self.horizon), 1.0, 1e6)?;
        checker.within("first_iteration", f64::from(self.first_iteration), 0.0, 1e6)?;
        checker.within("batch", f64::from(self.batch), 1.0, 1e6)?;
        checker.within("group_size", f64::from(self.group_size), 1.0, f64::from(self.batch))?;
        checker.within("batch_least", self.batch_least, 0.0, 1.0)?;
        if let Some(problems) = self.problems {
            // A batch has no problem twice.
            let groups = self.batch.div_ceil(self.group_size);
            checker.within("problems", f64::from(problems), f64::from(groups), 1e6)?;
        }
        checker.within("train_s", self.train_s, 0.0, 1e6)?;
        checker.within("train_jitter", self.train_jitter, 0.0, 0.3)?;
        checker.within("sync_s", self.sync_s, 0.0, 1e6)?;
        let Self { tasks, iterations, batch, .. } = *self;
        let requests = u64::from(tasks) * u64::from(iterations) * u64::from(batch);
        if requests > REQUESTS_MAX {
            return Err(SpecError::TooLarge { tasks, iterations, batch, requests });
        }
        Ok(())
    }

    /// How far the training is; a trace that goes on past its horizon stays at the end.
    fn progress(&self, iteration: u32) -> f64 {
        let last = self.horizon.saturating_sub(1).max(1);
        (f64::from(iteration) / f64::from(last)).min(1.0)
    }

    /// The number of requests of an iteration.
    fn size(&self, random: &mut Random) -> u32 {
        if is_whole(&self.batch_least) {
            return self.batch;
        }
        let drawn = f64::from(self.batch) * random.between(self.batch_least, 1.0);
        let groups = (drawn / f64::from(self.group_size)).round().max(1.0);
        (groups as u32 * self.group_size).min(self.batch)
    }

    fn moment(&self, spec: &Spec, iteration: u32, batch: u32) -> Moment {
        Moment {
            batch,
            group_size: self.group_size,
            progress: self.progress(iteration),
            data_set: self.problems.map(|problems| {
                let groups = self.batch.div_ceil(self.group_size);
                let first = u64::from(iteration) * u64::from(groups) % u64::from(problems);
                DataSet { seed: spec.seed, problems, first: first as u32 }
            }),
            shift: spec.shift_at(iteration),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_whole(part: &f64) -> bool {
    *part >= 1.0
}

/// One task with its iterations in time.
pub(super) fn task(spec: &Spec, id: u32) -> Task {
    let trainer = &spec.trainer;
    let start = Micros::from_secs_f64(trainer.stagger_s * f64::from(id));
    let mut clock = Clock { next: start, trained: Vec::new() };
    let numbers = trainer.first_iteration..trainer.first_iteration + trainer.iterations;
    let iterations = numbers.map(|number| {
        let mut random = Random::new(spec.seed, id, number);
        let train = Micros::from_secs_f64(trainer.train_s * random.jitter(trainer.train_jitter));
        let moment = trainer.moment(spec, number, trainer.size(&mut random));
        let requests = spec.rewards.requests(&moment, &mut random);
        let rollout = requests.last().map(|request| request.rollout).unwrap_or_default();
        let sync = Micros::from_secs_f64(trainer.sync_s);
        let rollout_start = clock.next;
        let iteration = Iteration { number, rollout_start, rollout, train, sync, requests };
        clock.pass(&iteration, trainer.mode);
        iteration
    });
    Task { id, tenant: None, start, iterations: iterations.collect() }
}

/// When the next rollout starts, and the ends of all trainings so far.
struct Clock {
    next: Micros,
    trained: Vec<Micros>,
}

impl Clock {
    fn pass(&mut self, iteration: &Iteration, mode: TrainerMode) {
        let complete = iteration.rollout_start + iteration.earliest_end();
        let free = self.trained.last().copied().unwrap_or_default();
        let trained = complete.max(free) + iteration.train;
        self.trained.push(trained);
        self.next = match mode {
            TrainerMode::Colocated => trained + iteration.sync,
            TrainerMode::Disaggregated { stale } => {
                let rolled_out = iteration.rollout_start + iteration.rollout + iteration.sync;
                let before = self.trained.iter().rev().nth(stale as usize);
                rolled_out.max(before.copied().unwrap_or_default())
            }
        };
    }
}
