//! Stages that no request of a basis reached, and the times that they are taken to run.
//!
//! A stage whose requests wait takes some time. If it counted as none, no worker would be planned for them before their
//! batch has ended.

use assay_core::time::Micros;
use assay_sched::BatchView;

use crate::basis::Basis;
use crate::tail::Tail;

/// A stage about which nothing is known is taken to run for its timeout, but no longer than this or the longest other stage.
const UNKNOWN_MAX: Micros = Micros::from_secs(1);

/// For each stage of a batch that its basis has no request of, a time; zero for the others.
#[derive(Debug, Clone)]
pub(crate) struct UnreachedStages(Vec<Micros>);

impl UnreachedStages {
    /// A stage takes as long as it did so far in the batch itself; else as in the last batch of the plugin that reached it,
    /// which `learned` says by stage. One that runs is expected to run at least as long again.
    pub(crate) fn of(batch: &BatchView, basis: &Basis, learned: &[Option<Micros>]) -> Self {
        let known = (0..basis.stages).filter_map(|stage| basis.mean(stage));
        let unknown = known.max().unwrap_or_default().max(UNKNOWN_MAX);
        let stages = batch.stages.iter().zip(&batch.at_stage).enumerate();
        let time = stages.map(|(stage, (shape, at_stage))| {
            if basis.mean(stage).is_some() {
                return Micros::ZERO;
            }
            let own = at_stage.ended_time.0.checked_div(at_stage.ended.into()).map(Micros);
            let learned = learned.get(stage).copied().flatten();
            let elapsed = at_stage.running.iter().map(|running| running.elapsed).max();
            let again = elapsed.map_or(Micros(1), |elapsed| elapsed.scaled(2.0).max(Micros(1)));
            own.or(learned).unwrap_or(unknown).max(again).min(shape.timeout)
        });
        Self(time.collect())
    }

    /// The times by stage.
    pub(crate) fn times(&self) -> &[Micros] {
        &self.0
    }

    /// The time from the stage's start to the end of its request; zero for a stage of the basis.
    pub(crate) fn left(&self, stage: usize) -> Micros {
        match self.0[stage] {
            Micros::ZERO => Micros::ZERO,
            _ => self.0[stage..].iter().fold(Micros::ZERO, |left, time| left + *time),
        }
    }

    /// The basis' tails, and for each stage that it lacks one of the time that the stage is taken to run.
    pub(crate) fn tails(&self, basis: &Basis) -> Vec<Tail> {
        let tails = basis.tails.iter().enumerate();
        let tail = tails.map(|(stage, tail)| match self.left(stage) {
            Micros::ZERO => tail.clone(),
            left => Tail::of(&[left]),
        });
        tail.collect()
    }
}
