//! What waits of one batch, in the order in which the batch wants it served.
//!
//! Owned by the queue. It must never be left empty: the queue drops it with its last request.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::time::Micros;

use crate::config::Order;

/// When a request became ready, then its place in the batch.
pub(super) type Turn = (Micros, u32);

#[derive(Debug)]
pub(super) enum Waiting {
    /// First come, first served.
    Plain(BTreeSet<Turn>),
    Groups(Groups),
}

impl Waiting {
    pub(super) fn new(order: Order) -> Self {
        match order {
            Order::Ebf | Order::Fcfs => Self::Plain(BTreeSet::new()),
            Order::EbfGroups => Self::Groups(Groups::default()),
        }
    }

    /// `left` is of the group, and holds for all of it that waits here. Says whether the request
    /// was not there before.
    pub(super) fn push(&mut self, turn: Turn, group: Option<u32>, left: u32) -> bool {
        match self {
            Self::Plain(turns) => turns.insert(turn),
            Self::Groups(groups) => groups.change(group, |group| {
                group.left = left;
                group.turns.insert(turn)
            }),
        }
    }

    pub(super) fn pop(&mut self) -> Option<Turn> {
        match self {
            Self::Plain(turns) => turns.pop_first(),
            Self::Groups(groups) => {
                let (_, _, group) = *groups.order.first()?;
                groups.change(group, |group| group.turns.pop_first())
            }
        }
    }

    /// Takes out one that is not next; says whether it was there.
    pub(super) fn remove(&mut self, turn: Turn, group: Option<u32>) -> bool {
        match self {
            Self::Plain(turns) => turns.remove(&turn),
            Self::Groups(groups) => groups.change(group, |group| group.turns.remove(&turn)),
        }
    }

    /// The group has this many requests left: O(log groups).
    pub(super) fn regroup(&mut self, group: u32, left: u32) {
        if let Self::Groups(groups) = self
            && groups.waiting.contains_key(&Some(group))
        {
            groups.change(Some(group), |group| group.left = left);
        }
    }

    /// When the request that is next became ready.
    pub(super) fn ready(&self) -> Option<Micros> {
        let first = match self {
            Self::Plain(turns) => turns.first().copied(),
            Self::Groups(groups) => groups.order.first().map(|(_, turn, _)| *turn),
        };
        first.map(|(ready, _)| ready)
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Plain(turns) => turns.is_empty(),
            Self::Groups(groups) => groups.order.is_empty(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Plain(turns) => turns.len(),
            Self::Groups(groups) => groups.waiting.values().map(|group| group.turns.len()).sum(),
        }
    }
}

/// The group with the fewest requests left goes first: a group that is about to be complete is
/// worth more to its trainer than two that are half done. Of groups with equally many left the
/// request that was ready first goes first, whichever group that is of.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// What waits without a group is one entry: each of it is a group of one.
    waiting: BTreeMap<Option<u32>, Group>,
    /// How many requests each group has left, and its first turn.
    order: BTreeSet<(u32, Turn, Option<u32>)>,
}

#[derive(Debug, Default)]
struct Group {
    left: u32,
    turns: BTreeSet<Turn>,
}

impl Groups {
    /// Changes a group, keeps its place up to date, and drops it when nothing of it waits.
    fn change<T>(&mut self, number: Option<u32>, change: impl FnOnce(&mut Group) -> T) -> T {
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

impl Group {
    fn place(&self, number: Option<u32>) -> Option<(u32, Turn, Option<u32>)> {
        self.turns.first().map(|turn| (self.left, *turn, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_leaves_with_the_last_of_it_that_waits() {
        let mut groups = Groups::default();
        for (group, left, seq) in [(1, 1, 0), (2, 2, 1), (2, 2, 2)] {
            groups.change(Some(group), |group| {
                group.left = left;
                group.turns.insert((Micros(0), seq))
            });
        }
        let mut waiting = Waiting::Groups(groups);
        assert_eq!((waiting.len(), waiting.pop()), (3, Some((Micros(0), 0))));
        let Waiting::Groups(groups) = &waiting else { unreachable!("just made") };
        assert_eq!(groups.waiting.keys().collect::<Vec<_>>(), [&Some(2)]);
        assert_eq!((waiting.pop(), waiting.pop()), (Some((Micros(0), 1)), Some((Micros(0), 2))));
        assert!(waiting.is_empty() && waiting.pop().is_none());
    }
}
