//! The disciplines of queues: one table, from which the server, the simulator and the command line take their
//! names and help texts.
//!
//! A discipline has a file of its own: its row of the table, and the queue of a batch if it needs one of its
//! own. A new discipline is that file and a line in [`Discipline::ALL`].

mod batch_queue;

mod ebf;
mod ebf_groups;
mod fcfs;

use std::fmt;

pub(crate) use batch_queue::{BatchQueue, Turn};

/// A row of the table of disciplines. Two disciplines are equal if they have the same name.
#[derive(Clone, Copy)]
pub struct Discipline {
    /// The name in options and reports.
    pub name: &'static str,
    /// The order of service, for help texts.
    pub summary: &'static str,
    /// The key by which batches are ordered.
    pub ranking: Ranking,
    /// Whether every batch is served group by group; see [`Discipline::serves_groups`].
    groups_always: bool,
    /// Makes the queue of one batch.
    batch_queue: fn() -> Box<dyn BatchQueue>,
}

/// The key by which the batches of a queue are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// The batch's estimated end. A request with an earlier deadline is ranked by its deadline.
    EstimatedEnd,
    /// The time at which the batch's next request became ready. Deadlines do not matter.
    Arrival,
}

/// The part of a batch for which a trainer waits before it goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Consumes {
    /// The whole batch: only its end matters.
    #[default]
    Batch,
    /// Each group, as a trainer does that streams mini-batches: a group counts from its own end.
    Groups,
}

impl Discipline {
    /// All disciplines, the default one first.
    pub const ALL: [Self; 3] = [Self::EBF, Self::EBF_GROUPS, Self::FCFS];

    /// The discipline of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|discipline| discipline.name == name)
    }
}

impl Discipline {
    /// Whether a batch is served group by group. Only then the number of requests left in a group matters
    /// and is counted. A discipline by arrival keeps the order of arrival.
    pub(crate) fn serves_groups(self, consumes: Consumes) -> bool {
        let wanted = consumes == Consumes::Groups && self.ranking == Ranking::EstimatedEnd;
        self.groups_always || wanted
    }

    /// Whether the longest expected request of a batch is served first: it ends the batch early, and groups late.
    pub(crate) fn goes_by_expected(self, in_groups: bool) -> bool {
        !in_groups && self.ranking == Ranking::EstimatedEnd
    }

    /// Makes the queue of one batch.
    pub(crate) fn queue_of(self, in_groups: bool) -> Box<dyn BatchQueue> {
        let discipline = if in_groups { Self::EBF_GROUPS } else { self };
        (discipline.batch_queue)()
    }
}

impl PartialEq for Discipline {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Discipline {}

impl fmt::Debug for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Discipline").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_finds_its_row() {
        for discipline in Discipline::ALL {
            let found = Discipline::named(discipline.name).expect("it is in the table");
            assert_eq!((found, found.summary), (discipline, discipline.summary));
        }
        assert_eq!(Discipline::named("lifo"), None);
    }
}
