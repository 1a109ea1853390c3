//! The waiting requests of one tenant in a pool: one queue for each run, and the rule that picks the next run.
//!
//! The tenant's entry in the fair queue owns it. Between runs the discipline decides as well, as if all were
//! one queue. If the tenant shares its workers between runs, the run with the fewest workers is served first,
//! and the discipline breaks ties. A run's queue exists while one of its requests waits or a worker serves it.
//!
//! Each change costs O(log runs).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_core::id::{BatchId, RequestId};

use crate::discipline::Discipline;
use crate::queue::{Place, Queue, Rank};

/// The key by which runs are ordered. The smaller comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct NextRun {
    /// The number of workers that serve the run; 0 if the tenant does not share workers between runs.
    workers: u32,
    /// The rank of the run's next request.
    rank: Rank,
    batch: BatchId,
    run: Arc<str>,
}

#[derive(Debug)]
struct RunQueue {
    queue: Queue,
    /// The number of workers whose running lease is of the run.
    workers: u32,
    candidate: Option<NextRun>,
}

#[derive(Debug)]
pub(crate) struct RunQueues {
    discipline: Discipline,
    /// Whether workers are shared between runs.
    shared: bool,
    runs: BTreeMap<Arc<str>, RunQueue>,
    /// The runs with a waiting request.
    candidates: BTreeSet<NextRun>,
    len: usize,
}

impl RunQueues {
    pub(crate) fn new(discipline: Discipline, shared: bool) -> Self {
        let (runs, candidates) = (BTreeMap::new(), BTreeSet::new());
        Self { discipline, shared, runs, candidates, len: 0 }
    }

    /// The number of waiting requests.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The rank and the batch of the next request.
    pub(crate) fn first(&self) -> Option<(Rank, BatchId)> {
        self.candidates.first().map(|candidate| (candidate.rank, candidate.batch))
    }

    pub(crate) fn push(&mut self, run: &Arc<str>, request: RequestId, place: Place) {
        self.add(run);
        self.change(run, |queue| queue.push(request, place));
    }

    pub(crate) fn pop(&mut self) -> Option<RequestId> {
        let run = Arc::clone(&self.candidates.first()?.run);
        // The run's queue is kept: the worker that gets the request serves the run at once or soon.
        let run_queue = self.runs.get_mut(&run).expect("a candidate has a queue");
        let request = run_queue.queue.pop();
        self.len -= 1;
        run_queue.arrange(&run, self.shared, &mut self.candidates);
        request
    }

    /// Removes a request that waits here.
    pub(crate) fn remove(&mut self, run: &Arc<str>, request: RequestId, place: Place) {
        self.change(run, |queue| queue.remove(request, place));
        self.leave(run);
    }

    pub(crate) fn set_deadline(&mut self, run: &Arc<str>, request: RequestId, place: Place) {
        self.change(run, |queue| queue.set_deadline(request, place));
    }

    pub(crate) fn rerank(&mut self, run: &Arc<str>, batch: BatchId, rank: Rank) {
        self.change(run, |queue| queue.rerank(batch, rank));
    }

    pub(crate) fn regroup(&mut self, run: &Arc<str>, batch: BatchId, group: u32, left: u32) {
        self.change(run, |queue| queue.regroup(batch, group, left));
    }

    pub(crate) fn remove_batch(&mut self, run: &Arc<str>, batch: BatchId) {
        self.change(run, |queue| queue.remove_batch(batch));
        self.leave(run);
    }

    /// One more worker serves the run.
    pub(crate) fn serve(&mut self, run: &Arc<str>) {
        // The last request of the run may have been prefetched.
        self.add(run);
        let run_queue = self.runs.get_mut(run).expect("just added");
        run_queue.workers += 1;
        run_queue.arrange(run, self.shared, &mut self.candidates);
    }

    /// One worker less serves the run.
    pub(crate) fn release(&mut self, run: &Arc<str>) {
        let run_queue = self.runs.get_mut(run).expect("a run with a worker has a queue");
        run_queue.workers -= 1;
        run_queue.arrange(run, self.shared, &mut self.candidates);
        self.leave(run);
    }

    /// Workers are shared between runs from now on, or no more.
    pub(crate) fn set_shared(&mut self, shared: bool) {
        self.shared = shared;
        for (run, run_queue) in &mut self.runs {
            run_queue.arrange(run, shared, &mut self.candidates);
        }
    }

    /// Changes the queue of a run, if there is one, and updates its place among the runs.
    fn change(&mut self, run: &Arc<str>, change: impl FnOnce(&mut Queue)) {
        let Some(run_queue) = self.runs.get_mut(run) else { return };
        let before = run_queue.queue.len();
        change(&mut run_queue.queue);
        self.len = self.len - before + run_queue.queue.len();
        run_queue.arrange(run, self.shared, &mut self.candidates);
    }

    fn add(&mut self, run: &Arc<str>) {
        // `entry` would need an owned key on each look-up.
        if !self.runs.contains_key(run) {
            self.runs.insert(Arc::clone(run), RunQueue::new(self.discipline));
        }
    }

    fn leave(&mut self, run: &Arc<str>) {
        if self.runs.get(run).is_some_and(RunQueue::is_empty) {
            self.runs.remove(run);
        }
    }
}

impl RunQueue {
    fn new(discipline: Discipline) -> Self {
        Self { queue: Queue::new(discipline), workers: 0, candidate: None }
    }

    fn is_empty(&self) -> bool {
        self.workers == 0 && self.queue.len() == 0
    }

    fn arrange(&mut self, run: &Arc<str>, shared: bool, candidates: &mut BTreeSet<NextRun>) {
        let workers = if shared { self.workers } else { 0 };
        let first = self.queue.first();
        let is_in_place = match (&self.candidate, first) {
            (Some(old), Some((rank, batch))) => {
                (old.workers, old.rank, old.batch) == (workers, rank, batch)
            }
            (None, None) => true,
            _ => false,
        };
        if is_in_place {
            return;
        }
        if let Some(old) = self.candidate.take() {
            candidates.remove(&old);
        }
        self.candidate =
            first.map(|(rank, batch)| NextRun { workers, rank, batch, run: Arc::clone(run) });
        candidates.extend(self.candidate.clone());
    }
}

#[cfg(test)]
mod tests {
    use assay_core::time::Micros;
    use uuid::Uuid;

    use super::*;
    use crate::discipline::Turn;

    fn id(batch: u128, seq: u32) -> RequestId {
        RequestId { batch: BatchId(Uuid::from_u128(batch)), seq }
    }

    /// Batch 1 of run `long` ends at 10 and has three requests; batch 2 of run `short` ends at 20 and has two.
    fn filled(shared: bool) -> (RunQueues, [Arc<str>; 2]) {
        let mut queues = RunQueues::new(Discipline::EBF, shared);
        let runs: [Arc<str>; 2] = ["long".into(), "short".into()];
        for (batch, run, at, count) in [(1, &runs[0], 10, 3), (2, &runs[1], 20, 2)] {
            let rank = Rank { at: Micros(at), announced: Micros(0) };
            for seq in 0..count {
                let (turn, in_groups) = (Turn { seq, ..Turn::default() }, false);
                let place = Place { rank, turn, group: None, in_groups, left: 1, deadline: None };
                queues.push(run, id(batch, seq), place);
            }
        }
        (queues, runs)
    }

    fn grant(queues: &mut RunQueues, runs: &[Arc<str>; 2]) -> RequestId {
        let request = queues.pop().expect("something waits");
        queues.serve(&runs[usize::from(request.batch == id(2, 0).batch)]);
        request
    }

    #[test]
    fn runs_that_share_take_turns_and_others_go_by_rank() {
        let (mut queues, runs) = filled(true);
        let order = [0; 5].map(|_| grant(&mut queues, &runs));
        assert_eq!(order, [id(1, 0), id(2, 0), id(1, 1), id(2, 1), id(1, 2)]);
        let (mut queues, runs) = filled(false);
        let order = [0; 5].map(|_| grant(&mut queues, &runs));
        assert_eq!(order, [id(1, 0), id(1, 1), id(1, 2), id(2, 0), id(2, 1)]);
    }

    #[test]
    fn the_setting_counts_from_its_change_on() {
        let (mut queues, runs) = filled(false);
        assert_eq!([0; 2].map(|_| grant(&mut queues, &runs)), [id(1, 0), id(1, 1)]);
        queues.set_shared(true);
        assert_eq!([0; 2].map(|_| grant(&mut queues, &runs)), [id(2, 0), id(2, 1)]);
        queues.set_shared(false);
        assert_eq!(grant(&mut queues, &runs), id(1, 2));
    }

    #[test]
    fn a_run_leaves_with_its_last_worker() {
        let (mut queues, runs) = filled(true);
        let served = [0; 5].map(|_| grant(&mut queues, &runs));
        assert_eq!((queues.len(), queues.first(), queues.runs.len()), (0, None, 2));
        for request in served {
            queues.release(&runs[usize::from(request.batch == id(2, 0).batch)]);
        }
        assert!(queues.runs.is_empty() && queues.candidates.is_empty());
        let (mut queues, runs) = filled(true);
        queues.remove_batch(&runs[0], id(1, 0).batch);
        assert_eq!((queues.len(), queues.runs.len()), (2, 1));
    }
}
