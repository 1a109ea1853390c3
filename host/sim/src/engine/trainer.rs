//! A trainer in closed loop: when its next rollout starts depends on when its batches are done.

use assay_core::time::Micros;

use crate::trace::{Task, TrainerMode};

#[derive(Debug)]
pub(super) struct Trainer<'a> {
    task: &'a Task,
    mode: TrainerMode,
    /// The iteration whose rollout started last, and when that rollout is over.
    started: usize,
    rollout_over: Micros,
    /// The time at which each batch was complete, as far as it is known.
    completed: Vec<Option<Micros>>,
    /// The end of the training on each batch, as far as it is known.
    trained: Vec<Micros>,
}

impl<'a> Trainer<'a> {
    /// The first iteration is in the past; it had no delay.
    pub(super) fn new(task: &'a Task, mode: TrainerMode) -> Self {
        let history = &task.iterations[0];
        let trained = history.rollout_start + history.earliest_end() + history.train;
        Self {
            task,
            mode,
            started: 0,
            rollout_over: history.rollout_start + history.rollout,
            completed: vec![None; task.iterations.len()],
            trained: vec![trained],
        }
    }

    /// The iteration and the time of the first measured rollout; `None` if there is none.
    pub(super) fn first(&self) -> Option<(usize, Micros)> {
        Some((1, self.task.iterations.get(1)?.rollout_start))
    }

    /// Returns the next rollout, where it is certain by now.
    pub(super) fn rollout_started(
        &mut self,
        iteration: usize,
        now: Micros,
    ) -> Option<(usize, Micros)> {
        self.started = iteration;
        self.rollout_over = now + self.task.iterations[iteration].rollout;
        match self.mode {
            TrainerMode::Colocated => None,
            TrainerMode::Disaggregated { stale } => self.next_stale(stale),
        }
    }

    /// Returns the next rollout, where it was uncertain until now.
    pub(super) fn batch_completed(
        &mut self,
        iteration: usize,
        now: Micros,
    ) -> Option<(usize, Micros)> {
        self.completed[iteration] = Some(now);
        let before = self.trained.len();
        while let Some(at) = self.completed.get(self.trained.len()).copied().flatten() {
            let train = self.task.iterations[self.trained.len()].train;
            let free = self.trained.last().copied().unwrap_or_default();
            self.trained.push(at.max(free) + train);
        }
        match self.mode {
            TrainerMode::Colocated => {
                let at = self.trained[iteration] + self.task.iterations[iteration].sync;
                self.following(iteration, at)
            }
            TrainerMode::Disaggregated { stale } => {
                let waited = before + stale as usize <= self.started;
                // Otherwise an earlier event has started the rollout already.
                if waited { self.next_stale(stale) } else { None }
            }
        }
    }

    /// The next rollout waits for the training so many steps before the last rollout, if there is one.
    fn next_stale(&self, stale: u32) -> Option<(usize, Micros)> {
        let trained = match self.started.checked_sub(stale as usize) {
            Some(step) => *self.trained.get(step)?,
            None => Micros::ZERO,
        };
        let synced = self.rollout_over + self.task.iterations[self.started].sync;
        self.following(self.started, synced.max(trained))
    }

    fn following(&self, iteration: usize, at: Micros) -> Option<(usize, Micros)> {
        (iteration + 1 < self.task.iterations.len()).then_some((iteration + 1, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Iteration, TraceRequest};

    /// Rollouts of 100 s with the last request at their end, which runs for 10 s; training 50 s.
    fn task(count: u32) -> Task {
        let secs = Micros::from_secs;
        let iteration = |number: u32| Iteration {
            number,
            rollout_start: secs(200 * u64::from(number)),
            rollout: secs(100),
            train: secs(50),
            sync: secs(5),
            requests: vec![TraceRequest {
                request: 0,
                group: 0,
                tokens: 0,
                rollout: secs(100),
                service: vec![Some(secs(10))],
                outcome: "success".into(),
            }],
        };
        Task {
            id: 0,
            tenant: None,
            start: Micros::ZERO,
            iterations: (0..count).map(iteration).collect(),
        }
    }

    fn at(iteration: usize, seconds: u64) -> Option<(usize, Micros)> {
        Some((iteration, Micros::from_secs(seconds)))
    }

    #[test]
    fn colocated_rollouts_wait_for_completion_training_and_weights() {
        let task = task(3);
        let mut trainer = Trainer::new(&task, TrainerMode::Colocated);
        assert_eq!(trainer.first(), at(1, 200));
        assert_eq!(trainer.rollout_started(1, Micros::from_secs(200)), None);
        assert_eq!(trainer.batch_completed(1, Micros::from_secs(317)), at(2, 317 + 50 + 5));
        assert_eq!(trainer.batch_completed(2, Micros::from_secs(600)), None);
    }

    #[test]
    fn disaggregated_rollouts_wait_for_the_training_before_the_last() {
        let task = task(5);
        let mut trainer = Trainer::new(&task, TrainerMode::Disaggregated { stale: 1 });
        // The history's training is over at 160 s: the second rollout follows the first at once.
        assert_eq!(trainer.rollout_started(1, Micros::from_secs(200)), at(2, 305));
        assert_eq!(trainer.rollout_started(2, Micros::from_secs(305)), None);
        // Late: its training holds the third up.
        assert_eq!(trainer.batch_completed(1, Micros::from_secs(400)), at(3, 450));
        // Known before the third started: no rollout follows from it yet.
        assert_eq!(trainer.batch_completed(2, Micros::from_secs(415)), None);
        assert_eq!(trainer.rollout_started(3, Micros::from_secs(450)), at(4, 555));
        assert_eq!(trainer.rollout_started(4, Micros::from_secs(555)), None);
        assert_eq!(trainer.batch_completed(3, Micros::from_secs(560)), None);
        assert_eq!(trainer.batch_completed(4, Micros::from_secs(700)), None);
    }

    #[test]
    fn with_two_steps_rollouts_run_further_ahead_and_then_wait() {
        let task = task(5);
        let mut trainer = Trainer::new(&task, TrainerMode::Disaggregated { stale: 2 });
        // Before there are two trainings to lack, nothing holds a rollout up.
        assert_eq!(trainer.rollout_started(1, Micros::from_secs(200)), at(2, 305));
        // The history's training is over at 160 s.
        assert_eq!(trainer.rollout_started(2, Micros::from_secs(305)), at(3, 410));
        assert_eq!(trainer.rollout_started(3, Micros::from_secs(410)), None);
        // Late: its training holds the fourth up, which starts once.
        assert_eq!(trainer.batch_completed(1, Micros::from_secs(600)), at(4, 650));
        assert_eq!(trainer.batch_completed(2, Micros::from_secs(610)), None);
        assert_eq!(trainer.rollout_started(4, Micros::from_secs(650)), None);
        assert_eq!(trainer.batch_completed(3, Micros::from_secs(700)), None);
    }
}
