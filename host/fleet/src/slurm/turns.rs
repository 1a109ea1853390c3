//! Commands that wait for their turn, so that a slow Slurm is not flooded: a few `sbatch` at once, and one `scancel` for
//! many jobs.

use std::collections::{BTreeMap, VecDeque};

use assay_core::id::TicketId;
use assay_core::limits;

use super::answers::JobId;
use super::jobs::Cancel;
use crate::launcher::Start;

#[derive(Default)]
pub(super) struct Turns {
    submits: VecDeque<Start>,
    cancels: BTreeMap<JobId, Cancel>,
}

impl Turns {
    pub(super) fn submit(&mut self, start: Start) {
        self.submits.push_back(start);
    }

    /// Drops a start that still waits; returns whether it did.
    pub(super) fn give_up(&mut self, ticket: TicketId) -> bool {
        let at = self.submits.iter().position(|start| start.ticket.id == ticket);
        at.and_then(|at| self.submits.remove(at)).is_some()
    }

    pub(super) fn next_submit(&mut self) -> Option<Start> {
        self.submits.pop_front()
    }

    /// The stronger of two calls for one job counts.
    pub(super) fn cancel(&mut self, id: JobId, how: Cancel) {
        let waits = self.cancels.entry(id).or_insert(how);
        *waits = how.max(*waits);
    }

    /// The jobs of the next `scancel`; those that are to end come first.
    pub(super) fn next_cancel(&mut self) -> Option<(Vec<JobId>, Cancel)> {
        let how = *self.cancels.values().max()?;
        let ids = self.cancels.iter().filter(|(_, waits)| **waits == how).map(|(id, _)| *id);
        let ids: Vec<JobId> = ids.take(limits::SLURM_CANCELS_AT_ONCE).collect();
        self.cancels.retain(|id, _| !ids.contains(id));
        Some((ids, how))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::Ticket;

    #[test]
    fn many_jobs_are_cancelled_at_once_and_each_waits_once() {
        let mut turns = Turns::default();
        for id in (1..=150).chain(1..=150) {
            turns.cancel(id, Cancel::Ask);
        }
        turns.cancel(7, Cancel::End);
        turns.cancel(7, Cancel::Ask);
        let sizes = std::iter::from_fn(|| turns.next_cancel().map(|(ids, how)| (ids.len(), how)));
        assert_eq!(
            sizes.collect::<Vec<_>>(),
            [(1, Cancel::End), (100, Cancel::Ask), (49, Cancel::Ask)]
        );
    }

    #[test]
    fn a_start_that_is_given_up_before_its_turn_is_not_submitted() {
        let mut turns = Turns::default();
        let starts = [(); 2].map(|()| Start { ticket: Ticket::generate(), pool: "cpu".into() });
        let tickets = starts.each_ref().map(|start| start.ticket.id);
        starts.into_iter().for_each(|start| turns.submit(start));
        assert!(turns.give_up(tickets[0]) && !turns.give_up(tickets[0]));
        assert_eq!(turns.next_submit().map(|start| start.ticket.id), Some(tickets[1]));
        assert!(turns.next_submit().is_none() && !turns.give_up(tickets[1]));
    }
}
