//! The requests of one tenant that wait for one pool, in the order in which they are served.
//!
//! The pool's fair queue owns it. Each batch has a lane; the lanes are ordered by rank, so that a batch whose
//! estimate moves is one entry to move, however many of its requests wait. A request with a
//! deadline has a second entry with a rank of its own, and is served when the earlier of both comes. A queue
//! must never contain a leased request.

mod deadlines;

use std::collections::{BTreeMap, BTreeSet};

use assay_core::id::{BatchId, RequestId};
use assay_core::time::Micros;

use crate::discipline::{BatchQueue, Discipline, Ranking, Turn};
use deadlines::Deadlines;

/// The key by which batches are ordered; the smaller is served first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// The time that the discipline's [`Ranking`] names.
    pub(crate) at: Micros,
    /// Breaks ties: the batch announced earlier goes first.
    pub(crate) announced: Micros,
}

/// By what a request's place in the queue is found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) rank: Rank,
    pub(crate) turn: Turn,
    pub(crate) group: Option<u32>,
    /// Whether its batch is served group by group.
    pub(crate) in_groups: bool,
    /// The number of unfinished requests of its group, if its batch is served so.
    pub(crate) left: u32,
    /// The client's deadline: the request ranks as if its batch ended then, if that is earlier.
    /// [`Ranking::Arrival`] ignores it.
    pub(crate) deadline: Option<Micros>,
}

#[derive(Debug)]
struct Lane {
    rank: Rank,
    waiting: Box<dyn BatchQueue>,
}

#[derive(Debug)]
pub(crate) struct Queue {
    discipline: Discipline,
    lanes: BTreeMap<BatchId, Lane>,
    ranks: BTreeSet<(Rank, BatchId)>,
    /// The requests with a deadline, which are in lanes as well.
    deadlines: Deadlines,
    len: usize,
}

impl Queue {
    pub(crate) fn new(discipline: Discipline) -> Self {
        Self {
            discipline,
            lanes: BTreeMap::new(),
            ranks: BTreeSet::new(),
            deadlines: Deadlines::default(),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The rank and the batch of the next request. Its rank is its lane's, or its own deadline where that is
    /// earlier.
    pub(crate) fn first(&self) -> Option<(Rank, BatchId)> {
        let lane = self.ranks.first().copied()?;
        Some(self.deadlines.first().map_or(lane, |deadline| deadline.min(lane)))
    }

    pub(crate) fn push(&mut self, request: RequestId, place: Place) {
        let RequestId { batch, .. } = request;
        let Place { rank, turn, group, in_groups, left, .. } = place;
        let lane = self.lanes.entry(batch).or_insert_with(|| {
            self.ranks.insert((rank, batch));
            Lane { rank, waiting: self.discipline.queue_of(in_groups) }
        });
        let new = lane.waiting.push(turn, group, left);
        debug_assert!(new, "{request} waits twice");
        self.len += 1;
        let rank = match self.discipline.ranking {
            Ranking::EstimatedEnd => rank,
            Ranking::Arrival => lane.by_arrival(),
        };
        lane.move_to(rank, batch, &mut self.ranks);
        self.set_deadline(request, place);
    }

    pub(crate) fn pop(&mut self) -> Option<RequestId> {
        let first = self.ranks.first().copied()?;
        // Where they are equal, the lane's own order holds.
        let deadline = self.deadlines.first().filter(|deadline| *deadline < first);
        let (_, batch) = deadline.unwrap_or(first);
        let lane = self.lanes.get_mut(&batch).expect("a rank has a lane");
        let turn = match deadline.and_then(|_| self.deadlines.pop()) {
            Some((turn, group)) => {
                let waited = lane.waiting.remove(turn, group);
                debug_assert!(waited, "a request with a deadline waits");
                turn
            }
            None => lane.waiting.pop().expect("a lane is never empty"),
        };
        let request = RequestId { batch, seq: turn.seq };
        self.deadlines.remove(request);
        self.len -= 1;
        self.settle(batch);
        Some(request)
    }

    /// Removes a request that waits here.
    pub(crate) fn remove(&mut self, request: RequestId, place: Place) {
        let RequestId { batch, .. } = request;
        let lane = self.lanes.get_mut(&batch).expect("what waits has a lane");
        let waited = lane.waiting.remove(place.turn, place.group);
        debug_assert!(waited, "{request} does not wait");
        self.deadlines.remove(request);
        self.len -= 1;
        self.settle(batch);
    }

    /// Brings a lane's rank up to date after one of its requests left.
    fn settle(&mut self, batch: BatchId) {
        let Some(lane) = self.lanes.get_mut(&batch) else { return };
        if lane.waiting.is_empty() {
            self.ranks.remove(&(lane.rank, batch));
            self.lanes.remove(&batch);
        } else if self.discipline.ranking == Ranking::Arrival {
            lane.move_to(lane.by_arrival(), batch, &mut self.ranks);
        }
    }

    /// Changes the deadline of a request that waits here.
    pub(crate) fn set_deadline(&mut self, request: RequestId, place: Place) {
        self.deadlines.remove(request);
        if let Some(at) = place.deadline.filter(|_| self.discipline.ranking != Ranking::Arrival) {
            let rank = Rank { at, ..place.rank };
            self.deadlines.insert(request, rank, place.turn, place.group);
        }
    }

    /// The batch's estimate moved: O(log batches).
    pub(crate) fn rerank(&mut self, batch: BatchId, rank: Rank) {
        if self.discipline.ranking == Ranking::Arrival {
            return;
        }
        if let Some(lane) = self.lanes.get_mut(&batch) {
            lane.move_to(rank, batch, &mut self.ranks);
        }
    }

    /// The group of this batch has this many requests left.
    pub(crate) fn regroup(&mut self, batch: BatchId, group: u32, left: u32) {
        if let Some(lane) = self.lanes.get_mut(&batch) {
            lane.waiting.regroup(group, left);
        }
    }

    pub(crate) fn remove_batch(&mut self, batch: BatchId) {
        if let Some(lane) = self.lanes.remove(&batch) {
            self.ranks.remove(&(lane.rank, batch));
            self.deadlines.remove_batch(batch);
            self.len -= lane.waiting.len();
        }
    }
}

impl Lane {
    fn by_arrival(&self) -> Rank {
        let ready = self.waiting.ready().expect("a lane is never empty");
        Rank { at: ready, ..self.rank }
    }

    fn move_to(&mut self, rank: Rank, batch: BatchId, ranks: &mut BTreeSet<(Rank, BatchId)>) {
        if self.rank != rank {
            ranks.remove(&(self.rank, batch));
            ranks.insert((rank, batch));
            self.rank = rank;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(batch: u128, seq: u32) -> RequestId {
        RequestId { batch: BatchId(Uuid::from_u128(batch)), seq }
    }

    fn rank(at: u64) -> Rank {
        Rank { at: Micros(at), announced: Micros(0) }
    }

    fn push(queue: &mut Queue, request: RequestId, rank: Rank, ready: u64) {
        queue.push(request, place(request, rank, ready));
    }

    fn place(request: RequestId, rank: Rank, ready: u64) -> Place {
        let turn = Turn { ready: Micros(ready), seq: request.seq, ..Turn::default() };
        Place { rank, turn, group: None, in_groups: false, left: 1, deadline: None }
    }

    fn drain(mut queue: Queue) -> Vec<RequestId> {
        let drained = std::iter::from_fn(|| queue.pop()).collect();
        assert!(queue.len() == 0 && queue.lanes.is_empty() && queue.ranks.is_empty());
        assert!(queue.deadlines.is_empty());
        drained
    }

    fn filled(discipline: Discipline) -> Queue {
        let mut queue = Queue::new(discipline);
        push(&mut queue, id(1, 1), rank(90), 10);
        push(&mut queue, id(1, 0), rank(90), 30);
        push(&mut queue, id(2, 0), rank(50), 20);
        push(&mut queue, id(2, 1), rank(50), 20);
        queue
    }

    #[test]
    fn ebf_serves_the_batch_that_ends_first() {
        let expected = [id(2, 0), id(2, 1), id(1, 1), id(1, 0)];
        assert_eq!(drain(filled(Discipline::EBF)), expected);
    }

    #[test]
    fn fcfs_serves_by_ready_time_over_all_batches() {
        let expected = [id(1, 1), id(2, 0), id(2, 1), id(1, 0)];
        assert_eq!(drain(filled(Discipline::FCFS)), expected);
    }

    #[test]
    fn a_moved_estimate_moves_the_whole_lane() {
        let mut queue = filled(Discipline::EBF);
        queue.rerank(id(1, 0).batch, rank(40));
        assert_eq!(drain(queue), [id(1, 1), id(1, 0), id(2, 0), id(2, 1)]);
    }

    #[test]
    fn ties_go_to_the_batch_announced_earlier() {
        let mut queue = Queue::new(Discipline::EBF);
        let at = Micros(5);
        push(&mut queue, id(1, 0), Rank { at, announced: Micros(2) }, 0);
        push(&mut queue, id(2, 0), Rank { at, announced: Micros(1) }, 9);
        assert_eq!(drain(queue), [id(2, 0), id(1, 0)]);
    }

    /// Adds a request of batch 1; `left` is the number of unfinished requests of its group.
    fn push_group(queue: &mut Queue, seq: u32, group: Option<u32>, left: u32) {
        let ready = Micros(u64::from(seq));
        let request = id(1, seq);
        queue.push(request, Place { group, left, ..place(request, rank(90), ready.0) });
    }

    #[test]
    fn the_group_with_the_fewest_left_goes_first() {
        let mut queue = Queue::new(Discipline::EBF_GROUPS);
        push_group(&mut queue, 0, Some(7), 3);
        push_group(&mut queue, 1, Some(8), 2);
        push_group(&mut queue, 2, Some(7), 3);
        push_group(&mut queue, 3, Some(8), 2);
        push_group(&mut queue, 4, Some(9), 4);
        push_group(&mut queue, 5, None, 1);
        push(&mut queue, id(2, 0), rank(50), 99);
        queue.regroup(id(1, 0).batch, 9, 2);
        queue.regroup(id(1, 0).batch, 6, 1);
        queue.regroup(id(3, 0).batch, 9, 1);
        let expected = [id(2, 0), id(1, 5), id(1, 1), id(1, 3), id(1, 4), id(1, 0), id(1, 2)];
        assert_eq!(drain(queue), expected);
    }

    #[test]
    fn equal_groups_take_turns_by_ready_time() {
        let mut queue = Queue::new(Discipline::EBF_GROUPS);
        for (seq, group) in [(0, 1), (1, 2), (2, 1), (3, 2)] {
            push_group(&mut queue, seq, Some(group), 5);
        }
        assert_eq!(drain(queue), [id(1, 0), id(1, 1), id(1, 2), id(1, 3)]);
    }

    #[test]
    fn a_push_moves_the_rest_of_its_group() {
        let mut queue = Queue::new(Discipline::EBF_GROUPS);
        push_group(&mut queue, 0, Some(1), 1);
        push_group(&mut queue, 1, Some(2), 2);
        push_group(&mut queue, 2, Some(1), 3);
        assert_eq!(drain(queue), [id(1, 1), id(1, 0), id(1, 2)]);
    }

    fn set_deadline(
        queue: &mut Queue,
        request: RequestId,
        rank: Rank,
        ready: u64,
        at: Option<u64>,
    ) {
        let place = place(request, rank, ready);
        queue.set_deadline(request, Place { deadline: at.map(Micros), ..place });
    }

    #[test]
    fn a_deadline_before_the_end_of_the_batch_counts() {
        for (discipline, expected) in [
            (Discipline::EBF, [id(1, 0), id(2, 0), id(2, 1), id(1, 1)]),
            (Discipline::EBF_GROUPS, [id(1, 0), id(2, 0), id(2, 1), id(1, 1)]),
            (Discipline::FCFS, [id(1, 1), id(2, 0), id(2, 1), id(1, 0)]),
        ] {
            let mut queue = filled(discipline);
            set_deadline(&mut queue, id(1, 0), rank(90), 30, Some(40));
            if discipline != Discipline::FCFS {
                assert_eq!(queue.first(), Some((rank(40), id(1, 0).batch)));
            }
            assert_eq!(drain(queue), expected);
        }
    }

    #[test]
    fn a_deadline_after_the_end_of_the_batch_does_not_count() {
        let mut queue = filled(Discipline::EBF);
        set_deadline(&mut queue, id(1, 0), rank(90), 30, Some(91));
        set_deadline(&mut queue, id(2, 1), rank(50), 20, Some(50));
        assert_eq!(drain(queue), [id(2, 0), id(2, 1), id(1, 1), id(1, 0)]);
    }

    #[test]
    fn a_request_without_its_deadline_goes_back_to_its_place() {
        let mut queue = filled(Discipline::EBF);
        set_deadline(&mut queue, id(1, 0), rank(90), 30, Some(1));
        set_deadline(&mut queue, id(1, 0), rank(90), 30, Some(60));
        assert_eq!(queue.first(), Some((rank(50), id(2, 0).batch)));
        set_deadline(&mut queue, id(1, 0), rank(90), 30, None);
        assert_eq!(drain(queue), [id(2, 0), id(2, 1), id(1, 1), id(1, 0)]);
    }

    #[test]
    fn a_removed_batch_leaves_nothing() {
        for discipline in Discipline::ALL {
            let mut queue = filled(discipline);
            set_deadline(&mut queue, id(1, 1), rank(90), 10, Some(5));
            queue.remove_batch(id(1, 0).batch);
            assert_eq!(queue.len(), 2);
            assert_eq!(drain(queue), [id(2, 0), id(2, 1)]);
        }
    }
}
