//! Carries out what `sharing` says: who waits for whom, and what ends or runs when that ends.

use std::sync::Arc;

use assay_model::id::{BatchId, RequestId};
use assay_model::outcome::Outcome;
use assay_sched::{Event, FollowerEnd, NewRequest, Progress, SharedEnd};

use super::sharing::{Key, Known, Leading, Part, Settled};
use super::shell::Shell;

impl Shell {
    /// Whether a request that comes runs, follows an equal one, or has an outcome already.
    pub(super) fn progress_of(&mut self, request: RequestId, leading: Leading) -> Progress {
        let runs = Progress::Waiting { stage: 0, ran: Vec::new() };
        let Some(key) = self.shared_key(request) else { return runs };
        match self.sharing.enter(key, request, leading) {
            Part::Runs => runs,
            Part::Follows(leader) => Progress::Follows { leader },
            Part::Ends(known) => {
                let leader = known.leader;
                self.give(request, known);
                Progress::Follows { leader }
            }
        }
    }

    /// By what it is found by those that are equal to it; `None` if it is not to share.
    pub(super) fn shared_key(&self, request: RequestId) -> Option<Key> {
        let batch = self.batches.get(&request.batch)?;
        Some((batch.published.row.tenant, batch.entry(request.seq)?.content?))
    }

    /// The scheduler hears of requests; those that have an outcome already end.
    pub(super) fn submitted(&mut self, batch: BatchId, requests: Vec<NewRequest>) {
        let Some(live) = self.batches.get(&batch) else { return };
        let ended = requests.iter().filter_map(|new| {
            let known = live.entry(new.seq)?.shared.as_ref()?;
            Some(follower_end(RequestId { batch, seq: new.seq }, known))
        });
        let ended: Vec<FollowerEnd> = ended.collect();
        self.step(Event::RequestsSubmitted { batch, requests });
        if !ended.is_empty() {
            self.step(Event::FollowersEnded { ended });
        }
    }

    /// After every step: leaders may have ended in it.
    pub(super) fn settle_shared(&mut self) {
        let Some(Settled { ended, released }) = self.sharing.settle() else { return };
        let ends: Vec<FollowerEnd> =
            ended.iter().map(|(request, known)| follower_end(*request, known)).collect();
        for (request, known) in ended {
            self.give(request, known);
        }
        if !ends.is_empty() {
            self.step(Event::FollowersEnded { ended: ends });
        }
        if !released.is_empty() {
            self.step(Event::FollowersReleased { released });
        }
    }

    fn give(&mut self, request: RequestId, known: Arc<Known>) {
        let batch = self.batches.get_mut(&request.batch);
        if let Some(entry) = batch.and_then(|batch| batch.entry_mut(request.seq)) {
            entry.shared = Some(known);
        }
    }
}

fn follower_end(request: RequestId, known: &Known) -> FollowerEnd {
    let end = match &known.outcome {
        // The scheduler hears of a stage only to tell the shell, which has the outcome.
        Outcome::TimedOut { .. } => SharedEnd::TimedOut { stage: 0 },
        _ => SharedEnd::Scored,
    };
    FollowerEnd { request, end, earliest_end: known.earliest_end }
}
