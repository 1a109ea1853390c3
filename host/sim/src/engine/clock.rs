//! The virtual clock: what is due when, in one order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_core::id::{LeaseId, WorkerId};
use assay_core::time::Micros;

/// The time after which a run counts as stuck, if only wake-ups and faults lie ahead.
const STUCK_AFTER: Micros = Micros::from_secs(3_600);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SimEvent {
    RolloutStarts {
        task: usize,
        iteration: usize,
    },
    RequestArrives {
        batch: usize,
        request: usize,
    },
    WorkerJoins(WorkerId),
    StageEnds {
        worker: WorkerId,
        lease: LeaseId,
    },
    SchedulerWakes,
    WorkerFails,
    /// The number of workers that a pool of the trace can have changes.
    CapacityChanges {
        traced: usize,
    },
    HostRestarts,
}

impl SimEvent {
    /// True for events that can make progress. Without one ahead, nothing changes but by the scheduler
    /// itself.
    fn moves(self) -> bool {
        !matches!(self, Self::SchedulerWakes | Self::WorkerFails | Self::HostRestarts)
    }
}

/// Entries of one time come in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Clock {
    now: Micros,
    entries: BinaryHeap<Reverse<(Micros, u64, SimEvent)>>,
    made: u64,
    /// The time at which the scheduler wakes next: the earliest that it asked for since its last wake.
    wake: Option<Micros>,
    moving: usize,
    /// The time of the last progress.
    moved: Micros,
}

impl Clock {
    pub(super) fn now(&self) -> Micros {
        self.now
    }

    pub(super) fn push(&mut self, at: Micros, due: SimEvent) {
        self.moving += usize::from(due.moves());
        self.made += 1;
        self.entries.push(Reverse((at.max(self.now), self.made, due)));
    }

    pub(super) fn wake_at(&mut self, at: Micros) {
        let at = at.max(self.now);
        if self.wake.is_none_or(|wake| at < wake) {
            self.wake = Some(at);
            self.push(at, SimEvent::SchedulerWakes);
        }
    }

    /// Goes on to what comes next; `None` when nothing that moves will come any more.
    pub(super) fn next(&mut self) -> Option<SimEvent> {
        let Reverse((at, _, due)) = self.pop()?;
        if due.moves() {
            self.moving -= 1;
            self.moved = at;
        } else if self.moving == 0 && at.since(self.moved) > STUCK_AFTER {
            return None;
        }
        self.now = at;
        Some(due)
    }

    /// The next entry that an earlier wake-up has not replaced.
    fn pop(&mut self) -> Option<Reverse<(Micros, u64, SimEvent)>> {
        loop {
            let entry = self.entries.pop()?;
            let Reverse((at, _, due)) = entry;
            if due != SimEvent::SchedulerWakes {
                return Some(entry);
            }
            if self.wake.take_if(|wake| *wake == at).is_some() {
                return Some(entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_by_time_then_in_the_order_made() {
        let mut clock = Clock::default();
        clock.push(Micros(5), SimEvent::WorkerJoins(WorkerId(2)));
        clock.push(Micros(5), SimEvent::WorkerJoins(WorkerId(1)));
        clock.wake_at(Micros(3));
        assert_eq!(clock.next(), Some(SimEvent::SchedulerWakes));
        clock.push(Micros(1), SimEvent::WorkerFails);
        assert_eq!(clock.next(), Some(SimEvent::WorkerFails));
        assert_eq!(clock.now(), Micros(3));
        assert_eq!(clock.next(), Some(SimEvent::WorkerJoins(WorkerId(2))));
        assert_eq!(clock.next(), Some(SimEvent::WorkerJoins(WorkerId(1))));
        assert_eq!(clock.next(), None);
    }

    #[test]
    fn of_the_wake_ups_asked_for_the_earliest_comes_once() {
        let mut clock = Clock::default();
        clock.push(Micros(9), SimEvent::WorkerFails);
        for at in [5, 7, 3, 3] {
            clock.wake_at(Micros(at));
        }
        assert_eq!((clock.next(), clock.now()), (Some(SimEvent::SchedulerWakes), Micros(3)));
        // Asked for anew, at a time that was replaced before.
        clock.wake_at(Micros(5));
        assert_eq!((clock.next(), clock.now()), (Some(SimEvent::SchedulerWakes), Micros(5)));
        assert_eq!((clock.next(), clock.now()), (Some(SimEvent::WorkerFails), Micros(9)));
        assert_eq!(clock.next(), None);
    }

    #[test]
    fn wake_ups_alone_do_not_go_on_for_ever() {
        let mut clock = Clock::default();
        let mut wakes = 0;
        clock.wake_at(Micros::ZERO);
        while clock.next().is_some() {
            wakes += 1;
            clock.wake_at(clock.now() + Micros::from_secs(60));
        }
        assert_eq!(wakes, 61);
    }
}
