//! The held stages of one tenant, and the requests that wait for their release.
//!
//! Owned by the scheduler. A request that is here must be in no queue.

use std::collections::BTreeMap;

use assay_core::id::{BatchId, RequestId};

/// The stages that are held. A last stage never is: it needs no memory for an artifact, and makes room as it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeldStages {
    /// The first one, where others follow.
    First,
    /// All that others follow.
    AllButLast,
}

impl HeldStages {
    /// Whether a stage, from 0, of so many is among them.
    pub(crate) const fn contain(self, stage: usize, stages: usize) -> bool {
        let is_last = stage + 1 == stages;
        !is_last && (stage == 0 || matches!(self, Self::AllButLast))
    }
}

#[derive(Debug)]
pub(crate) struct HeldRequests {
    pub(crate) stages: HeldStages,
    /// The sequence numbers of the requests, by batch and stage.
    waiting: BTreeMap<(BatchId, usize), Vec<u32>>,
}

impl HeldRequests {
    pub(crate) fn new(stages: HeldStages) -> Self {
        Self { stages, waiting: BTreeMap::new() }
    }

    /// Takes a request if its stage, of so many, is held; says whether it is.
    pub(crate) fn take(&mut self, request: RequestId, stage: usize, stages: usize) -> bool {
        let is_held = self.stages.contain(stage, stages);
        if is_held {
            self.waiting.entry((request.batch, stage)).or_default().push(request.seq);
        }
        is_held
    }

    /// Removes and returns the requests that wait for later stages than the first.
    pub(crate) fn remove_later(&mut self) -> Vec<RequestId> {
        requests(self.waiting.extract_if(.., |(_, stage), _| *stage > 0))
    }

    pub(crate) fn remove_batch(&mut self, batch: BatchId) {
        let all = (batch, 0)..=(batch, usize::MAX);
        self.waiting.extract_if(all, |_, _| true).for_each(drop);
    }

    /// All requests.
    pub(crate) fn into_requests(self) -> Vec<RequestId> {
        requests(self.waiting)
    }

    /// The number of requests.
    pub(crate) fn count(&self) -> usize {
        self.waiting.values().map(Vec::len).sum()
    }

    /// The number of requests by batch and stage.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (BatchId, usize, usize)> {
        self.waiting.iter().map(|((batch, stage), requests)| (*batch, *stage, requests.len()))
    }
}

fn requests(waiting: impl IntoIterator<Item = ((BatchId, usize), Vec<u32>)>) -> Vec<RequestId> {
    let of_stage = |((batch, _), numbers): ((BatchId, usize), Vec<u32>)| {
        numbers.into_iter().map(move |seq| RequestId { batch, seq })
    };
    waiting.into_iter().flat_map(of_stage).collect()
}
