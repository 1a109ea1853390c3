//! The waiting requests of one batch, in the order in which the batch wants them served.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Debug;

use assay_core::time::Micros;

/// By what the requests of a batch are ordered; the smaller is served first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    /// The time that the request is expected to take from now on, in milliseconds: the longest is served first. Zero
    /// where expected times do not count.
    pub(crate) expected_ms: Reverse<u32>,
    /// When it became ready.
    pub(crate) ready: Micros,
    /// Its number in the batch.
    pub(crate) seq: u32,
}

/// The waiting requests of one batch. The tenant's queue owns it and drops it with its last request.
pub(crate) trait BatchQueue: Debug + Send + Sync {
    /// Adds a request; returns whether it was not there before. `left` is the number of unfinished requests
    /// of its group, and holds for all requests of the group that wait here.
    fn push(&mut self, turn: Turn, group: Option<u32>, left: u32) -> bool;

    fn pop(&mut self) -> Option<Turn>;

    /// Removes a request that need not be the next; returns whether it was there.
    fn remove(&mut self, turn: Turn, group: Option<u32>) -> bool;

    /// The group has this many unfinished requests from now on.
    fn regroup(&mut self, _group: u32, _left: u32) {}

    /// The time at which the next request became ready.
    fn ready(&self) -> Option<Micros>;

    fn is_empty(&self) -> bool;

    fn len(&self) -> usize;
}

/// The longest expected first; of those, and where nothing is expected, first come, first served.
#[derive(Debug, Default)]
pub(super) struct ArrivalOrder(BTreeSet<Turn>);

impl ArrivalOrder {
    pub(super) fn make() -> Box<dyn BatchQueue> {
        Box::<Self>::default()
    }
}

impl BatchQueue for ArrivalOrder {
    fn push(&mut self, turn: Turn, _group: Option<u32>, _left: u32) -> bool {
        self.0.insert(turn)
    }

    fn pop(&mut self) -> Option<Turn> {
        self.0.pop_first()
    }

    fn remove(&mut self, turn: Turn, _group: Option<u32>) -> bool {
        self.0.remove(&turn)
    }

    fn ready(&self) -> Option<Micros> {
        self.0.first().map(|turn| turn.ready)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
