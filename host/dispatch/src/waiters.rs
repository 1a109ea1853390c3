//! Carries out what `dedup` decides: which request waits for which primary, and what happens to the
//! waiters when it ends.

use assay_core::id::{BatchId, RequestId};
use assay_core::outcome::Outcome;
use assay_sched::{Event, NewRequest, Progress, SharedEnd, WaiterEnd};

use crate::dedup::{Eligibility, Resolution, Role, SharedOutcome};
use crate::shell::Shell;

impl Shell {
    /// Whether an arriving request runs, waits for an equal one, or has an outcome already.
    pub(super) fn progress_of(&mut self, request: RequestId, eligibility: Eligibility) -> Progress {
        let runs = Progress::Waiting { stage: 0, ran: Vec::new() };
        let Some(key) = self.batches.dedup_key(request) else { return runs };
        match self.dedup.enter(key, request, eligibility) {
            Role::Runs => runs,
            Role::Waits(primary) => Progress::WaitsFor { primary },
            Role::Ends(known) => {
                let primary = known.primary;
                self.batches.give(request, known);
                Progress::WaitsFor { primary }
            }
        }
    }

    /// Reports requests to the scheduler and ends those that have an outcome already.
    pub(super) fn submitted(&mut self, batch: BatchId, requests: Vec<NewRequest>) {
        let Some(live) = self.batches.get(batch) else { return };
        let ended = requests.iter().filter_map(|new| {
            let known = live.entry(new.seq)?.shared()?;
            Some(waiter_end(RequestId { batch, seq: new.seq }, known))
        });
        let ended: Vec<WaiterEnd> = ended.collect();
        self.step(Event::RequestsSubmitted { batch, requests });
        if !ended.is_empty() {
            self.step(Event::WaitersEnded { ended });
        }
    }

    /// Call after every step, because primaries may have ended in it.
    pub(super) fn resolve_dedup(&mut self) {
        let Some(Resolution { ended, released }) = self.dedup.resolve() else { return };
        let ends: Vec<WaiterEnd> =
            ended.iter().map(|(request, known)| waiter_end(*request, known)).collect();
        for (request, known) in ended {
            self.batches.give(request, known);
        }
        if !ends.is_empty() {
            self.step(Event::WaitersEnded { ended: ends });
        }
        if !released.is_empty() {
            self.step(Event::WaitersReleased { released });
        }
    }
}

fn waiter_end(request: RequestId, known: &SharedOutcome) -> WaiterEnd {
    let end = match &known.outcome {
        // The scheduler only passes the stage back to the shell, which has the outcome itself.
        Outcome::TimedOut { .. } => SharedEnd::TimedOut { stage: 0 },
        _ => SharedEnd::Scored,
    };
    WaiterEnd { request, end, earliest_end: known.earliest_end }
}
