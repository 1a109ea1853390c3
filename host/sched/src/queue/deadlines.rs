//! The requests of a queue's lanes that have deadlines, the earliest first.
//!
//! Owned by the queue. It must never hold a request that is in no lane.

use std::collections::BTreeMap;

use assay_core::id::{BatchId, RequestId};

use super::Rank;
use crate::discipline::Turn;

type Entry = (Rank, BatchId, Turn);

#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// The group of each entry, by which its lane finds the request.
    order: BTreeMap<Entry, Option<u32>>,
    entries: BTreeMap<RequestId, Entry>,
}

impl Deadlines {
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.order.is_empty()
    }

    pub(super) fn first(&self) -> Option<(Rank, BatchId)> {
        self.order.first_key_value().map(|((rank, batch, _), _)| (*rank, *batch))
    }

    pub(super) fn insert(
        &mut self,
        request: RequestId,
        rank: Rank,
        turn: Turn,
        group: Option<u32>,
    ) {
        let entry = (rank, request.batch, turn);
        self.order.insert(entry, group);
        self.entries.insert(request, entry);
    }

    /// Removes the request of which `first` returned the rank.
    pub(super) fn pop(&mut self) -> Option<(Turn, Option<u32>)> {
        let ((_, batch, turn), group) = self.order.pop_first()?;
        self.entries.remove(&RequestId { batch, seq: turn.seq });
        Some((turn, group))
    }

    pub(super) fn remove(&mut self, request: RequestId) {
        if let Some(entry) = self.entries.remove(&request) {
            self.order.remove(&entry);
        }
    }

    pub(super) fn remove_batch(&mut self, batch: BatchId) {
        let all = RequestId { batch, seq: 0 }..=RequestId { batch, seq: u32::MAX };
        let gone: Vec<RequestId> = self.entries.range(all).map(|(id, _)| *id).collect();
        gone.into_iter().for_each(|request| self.remove(request));
    }
}
