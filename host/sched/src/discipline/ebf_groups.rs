//! The discipline `ebf-groups`: earliest batch first, and in each batch one group after the other.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::time::Micros;

use super::batch_queue::{BatchQueue, Turn};
use super::{Discipline, Ranking};

impl Discipline {
    /// Groups are complete early at no cost to the batch. A request without a group is a group of one.
    pub const EBF_GROUPS: Self = Self {
        name: "ebf-groups",
        summary: "Earliest batch first; in each batch, the group with the fewest requests left first",
        ranking: Ranking::EstimatedEnd,
        groups_always: true,
        batch_queue: || Box::<GroupOrder>::default(),
    };
}

/// The group with the fewest requests left comes first: a group that is about to be complete is worth more to
/// its trainer than two that are half done. Among groups with equally many left, the request that was ready
/// first comes first.
#[derive(Debug, Default)]
struct GroupOrder {
    /// The waiting requests without a group are one entry, though each counts as a group of one.
    waiting: BTreeMap<Option<u32>, WaitingGroup>,
    /// For each group, the number of requests left and its first turn.
    order: BTreeSet<(u32, Turn, Option<u32>)>,
}

#[derive(Debug, Default)]
struct WaitingGroup {
    left: u32,
    turns: BTreeSet<Turn>,
}

impl BatchQueue for GroupOrder {
    fn push(&mut self, turn: Turn, group: Option<u32>, left: u32) -> bool {
        self.change(group, |group| {
            group.left = left;
            group.turns.insert(turn)
        })
    }

    fn pop(&mut self) -> Option<Turn> {
        let (_, _, group) = *self.order.first()?;
        self.change(group, |group| group.turns.pop_first())
    }

    fn remove(&mut self, turn: Turn, group: Option<u32>) -> bool {
        self.change(group, |group| group.turns.remove(&turn))
    }

    /// O(log groups).
    fn regroup(&mut self, group: u32, left: u32) {
        if self.waiting.contains_key(&Some(group)) {
            self.change(Some(group), |group| group.left = left);
        }
    }

    fn ready(&self) -> Option<Micros> {
        self.order.first().map(|(_, turn, _)| turn.ready)
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn len(&self) -> usize {
        self.waiting.values().map(|group| group.turns.len()).sum()
    }
}

impl GroupOrder {
    /// Changes a group, keeps its place up to date, and drops it when nothing of it waits.
    fn change<T>(&mut self, number: Option<u32>, change: impl FnOnce(&mut WaitingGroup) -> T) -> T {
        let group = self.waiting.entry(number).or_default();
        let before = group.place(number);
        let changed = change(group);
        let after = group.place(number);
        if before != after {
            before.map(|place| self.order.remove(&place));
            after.map(|place| self.order.insert(place));
        }
        if after.is_none() {
            self.waiting.remove(&number);
        }
        changed
    }
}

impl WaitingGroup {
    fn place(&self, number: Option<u32>) -> Option<(u32, Turn, Option<u32>)> {
        self.turns.first().map(|turn| (self.left, *turn, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_leaves_with_its_last_waiting_request() {
        let mut groups = GroupOrder::default();
        let turn = |seq| Turn { seq, ..Turn::default() };
        for (group, left, seq) in [(1, 1, 0), (2, 2, 1), (2, 2, 2)] {
            assert!(groups.push(turn(seq), Some(group), left));
        }
        assert_eq!((groups.len(), groups.pop()), (3, Some(turn(0))));
        assert_eq!(groups.waiting.keys().collect::<Vec<_>>(), [&Some(2)]);
        assert_eq!((groups.pop(), groups.pop()), (Some(turn(1)), Some(turn(2))));
        assert!(groups.is_empty() && groups.pop().is_none());
    }
}
