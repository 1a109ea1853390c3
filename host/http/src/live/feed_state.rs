//! The state that a feed's readers know, and the events that bring them up to date.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_api::capacity::PoolCapacity;
use assay_api::operations::{EndedBatch, Incident, LiveBatch, LiveDelta, LiveSnapshot, StageQueue};
use assay_core::id::BatchId;
use assay_core::time::Micros;
use assay_dispatch::committed::CommittedBatch;

/// The state of the service as the feed's readers know it.
#[derive(Default)]
pub(super) struct FeedState {
    at: Micros,
    batches: BTreeMap<BatchId, LiveBatch>,
    total: u32,
    queue: Vec<StageQueue>,
    pools: Option<Vec<PoolCapacity>>,
}

/// The service as it is now.
pub(super) struct View {
    pub at: Micros,
    /// The live batches, as many as are shown.
    pub batches: Vec<LiveBatch>,
    pub total: u32,
    pub queue: Vec<StageQueue>,
    /// The pools, for readers who may see them.
    pub pools: Option<Vec<PoolCapacity>>,
    pub ended: Vec<EndedBatch>,
    pub incidents: Vec<Incident>,
}

impl FeedState {
    pub(super) fn new(view: View) -> Self {
        let mut state = Self::default();
        state.advance(view, |_| false);
        state
    }

    pub(super) fn snapshot(&self) -> LiveSnapshot {
        let mut batches: Vec<LiveBatch> = self.batches.values().cloned().collect();
        batches.sort_by_key(|batch| (batch.due_at.unwrap_or(Micros::MAX), batch.announced_at));
        LiveSnapshot {
            at: self.at,
            batches,
            batches_total: self.total,
            queue: self.queue.clone(),
            pools: self.pools.clone(),
        }
    }

    /// Takes the view over and returns what it changed, if anything. `is_live` says whether the
    /// scheduler still has a batch that is not shown; one that it has no more is about to end.
    pub(super) fn advance(
        &mut self,
        view: View,
        is_live: impl Fn(BatchId) -> bool,
    ) -> Option<LiveDelta> {
        let View { at, batches, total, queue, pools, ended, incidents } = view;
        for batch in &ended {
            self.batches.remove(&batch.id);
        }
        let mut unseen = std::mem::take(&mut self.batches);
        let mut changed = Vec::new();
        for batch in batches {
            if unseen.remove(&batch.id).as_ref() != Some(&batch) {
                changed.push(batch.clone());
            }
            self.batches.insert(batch.id, batch);
        }
        let (left, ending): (Vec<_>, Vec<_>) = unseen.into_iter().partition(|(id, _)| is_live(*id));
        self.batches.extend(ending);
        let left: Vec<BatchId> = left.into_iter().map(|(id, _)| id).collect();
        let queue = replaced(&mut self.queue, queue);
        let known = self.pools.take().unwrap_or_default();
        let new = pools.iter().flatten().filter(|pool| !known.contains(pool)).cloned();
        let new_pools: Vec<PoolCapacity> = new.collect();
        self.pools = pools;
        self.at = at;
        let same_total = self.total == total;
        self.total = total;
        let nothing = changed.is_empty()
            && ended.is_empty()
            && left.is_empty()
            && queue.is_none()
            && new_pools.is_empty()
            && incidents.is_empty();
        (!nothing || !same_total).then_some(LiveDelta {
            at,
            batches: changed,
            batches_total: total,
            ended,
            left,
            queue,
            pools: new_pools,
            incidents,
        })
    }
}

/// The new value, where it is another.
fn replaced<T: PartialEq + Clone>(known: &mut T, new: T) -> Option<T> {
    if *known == new {
        return None;
    }
    known.clone_from(&new);
    Some(new)
}

/// A batch that has ended, for those who look on.
pub(super) fn ended(committed: &Arc<CommittedBatch>, tenant: &str) -> EndedBatch {
    let batch = committed.batch();
    EndedBatch {
        id: batch.id,
        tenant: tenant.to_owned(),
        run: batch.run,
        iteration: batch.iteration,
        plugin: batch.plugin,
        state: batch.state,
        counts: batch.counts,
        mean_reward: batch.mean_reward,
        done_at: batch.done_at,
        extra_delay_ms: batch.extra_delay_ms,
    }
}

#[cfg(test)]
mod tests {
    use assay_api::batch::BatchState;
    use assay_api::result::Counts;

    use super::*;

    fn batch(id: BatchId, submitted: u32) -> LiveBatch {
        LiveBatch {
            id,
            tenant: "ours".into(),
            run: "r".into(),
            iteration: 1,
            plugin: "math@1.0.0".into(),
            state: BatchState::Open,
            counts: Counts { submitted, ..Counts::default() },
            expected_size: None,
            queued: 0,
            running: 0,
            announced_at: Micros(1),
            first_request_at: None,
            last_request_at: None,
            earliest_end_at: None,
            tolerance_ms: 0.0,
            due_at: None,
            estimated_done_at: None,
        }
    }

    fn view(batches: Vec<LiveBatch>) -> View {
        let total = batches.len() as u32;
        let (queue, ended, incidents) = (Vec::new(), Vec::new(), Vec::new());
        View { at: Micros(7), batches, total, queue, pools: None, ended, incidents }
    }

    fn done(id: BatchId) -> EndedBatch {
        EndedBatch {
            id,
            tenant: "ours".into(),
            run: "r".into(),
            iteration: 1,
            plugin: "math@1.0.0".into(),
            state: BatchState::Done,
            counts: Counts::default(),
            mean_reward: None,
            done_at: Some(Micros(9)),
            extra_delay_ms: None,
        }
    }

    #[test]
    fn only_what_has_changed_is_told() {
        let (a, b) = (BatchId::generate(), BatchId::generate());
        let mut state = FeedState::new(view(vec![batch(a, 1), batch(b, 1)]));
        assert!(state.advance(view(vec![batch(a, 1), batch(b, 1)]), |_| true).is_none());
        let delta = state.advance(view(vec![batch(a, 2), batch(b, 1)]), |_| true);
        let delta = delta.expect("a batch has changed");
        assert_eq!((delta.batches.len(), delta.batches[0].id), (1, a));
        assert!(delta.queue.is_none() && delta.left.is_empty());
        assert_eq!(state.snapshot().batches.len(), 2);
    }

    #[test]
    fn a_batch_that_is_about_to_end_stays_until_it_has() {
        let id = BatchId::generate();
        let mut state = FeedState::new(view(vec![batch(id, 1)]));
        let gone = View { total: 1, ..view(Vec::new()) };
        assert!(state.advance(gone, |_| false).is_none());
        assert_eq!(state.snapshot().batches.len(), 1);
        let ended = View { ended: vec![done(id)], ..view(Vec::new()) };
        let delta = state.advance(ended, |_| false).expect("it has ended");
        assert_eq!((delta.ended.len(), delta.left.len()), (1, 0));
        assert!(state.snapshot().batches.is_empty());
    }

    #[test]
    fn a_batch_that_gives_way_to_more_urgent_ones_has_left() {
        let (a, b) = (BatchId::generate(), BatchId::generate());
        let mut state = FeedState::new(view(vec![batch(a, 1)]));
        let delta = state.advance(view(vec![batch(b, 1)]), |id| id == a).expect("both changed");
        assert_eq!((delta.left, delta.batches[0].id), (vec![a], b));
    }
}
