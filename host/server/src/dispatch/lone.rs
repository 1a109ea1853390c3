//! Lone requests (`POST /v1/rewards`): scheduled at once, written together with their outcome.
//!
//! ```text
//!   held ──(outcome, end)──> one commit with everything ──> shown
//!    └──(not ended soon, or something else to write)──> writing ──(committed)──> like any other
//! ```
//!
//! A lone request is acknowledged by its answer alone, so nothing is promised before that commit.
//! One that takes longer is committed on its own first: its caller may be told its id.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use assay_model::api::BatchState;
use assay_model::id::{BatchId, RequestId};
use assay_model::time::Micros;
use assay_sched::{Event, NewRequest};

use super::batch::LiveBatch;
use super::publish::{Output, Pending, Waiter};
use super::room::Place;
use super::sharing::Leading;
use super::shell::Shell;
use super::{Announcement, HashedItem, Published};
use crate::store::admissions::{Admission, Admitted, BatchMark};
use crate::store::lone::LoneRow;
use crate::store::outcomes::{OutcomeRow, Record};

/// How long a lone request stays unwritten.
const HELD_MAX: Micros = Micros::from_ms(20);

#[derive(Default)]
pub(super) struct Lone {
    held: HashMap<BatchId, Held>,
    due: VecDeque<(Micros, BatchId)>,
    /// Outputs that wait for their batch's own commit.
    writing: HashMap<BatchId, Vec<Output>>,
}

struct Held {
    admitted: Admitted,
    outcome: Option<(OutcomeRow, Place)>,
}

impl Lone {
    /// Whether the batch is a lone request's that is not committed.
    pub(super) fn is_unwritten(&self, batch: BatchId) -> bool {
        self.held.contains_key(&batch) || self.writing.contains_key(&batch)
    }

    /// When the next one must be written.
    pub(super) fn due(&mut self) -> Option<Micros> {
        while let Some((at, id)) = self.due.front() {
            if self.held.contains_key(id) {
                return Some(*at);
            }
            self.due.pop_front();
        }
        None
    }
}

impl Shell {
    pub(super) fn announce_lone(
        &mut self,
        announcement: Announcement,
        item: HashedItem,
    ) -> Arc<Published> {
        let Announcement { row, plugin, replays, .. } = announcement;
        let (tenant, id, at) = (row.tenant, row.id, row.announced_at);
        let published = self.board.put(row.clone(), plugin, true);
        let due = item.item.due;
        let mut batch = LiveBatch::new(published.clone());
        batch.replays = replays;
        let requests = batch.take(vec![item]).map(|taken| taken.rows).unwrap_or_default();
        batch.state = BatchState::Sealed;
        self.batches.insert(id, batch);
        let admission = Admission { batch: Some(row), requests, mark: BatchMark::default() };
        let admitted = Admitted { tenant, batch: id, at, admission };
        self.lone.held.insert(id, Held { admitted, outcome: None });
        self.lone.due.push_back((at + HELD_MAX, id));
        self.batch_announced(id);
        let request = RequestId { batch: id, seq: 0 };
        let progress = self.progress_of(request, Leading::MayNot);
        let requests = vec![NewRequest { seq: 0, group: None, arrived: at, due, progress }];
        self.submitted(id, requests);
        self.step(Event::BatchSealed { batch: id });
        published
    }

    /// Writes those that have been held for long enough.
    pub(super) fn write_overdue(&mut self, now: Micros) {
        while self.lone.due().is_some_and(|at| at <= now) {
            if let Some((_, id)) = self.lone.due.pop_front() {
                self.write_held(id);
            }
        }
    }

    fn write_held(&mut self, id: BatchId) {
        let Some(held) = self.lone.held.remove(&id) else { return };
        self.lone.writing.insert(id, Vec::new());
        self.write(Pending { admitted: held.admitted, waiter: Waiter::Lone });
    }

    /// A lone request that took longer is committed: what came after it may follow.
    pub(super) fn lone_written(&mut self, id: BatchId, at: Micros) {
        if let Some(published) = self.board.find(id) {
            published.change(|standing| {
                standing.state = BatchState::Sealed;
                standing.first_request_at = Some(at);
                standing.sealed_at = Some(at);
                standing.counts.submitted = 1;
            });
        }
        let request = RequestId { batch: id, seq: 0 };
        if let Some(key) = self.shared_key(request) {
            self.sharing.may_lead(key, request);
        }
        for output in self.lone.writing.remove(&id).unwrap_or_default() {
            self.output(output);
        }
    }

    /// Sends an output to its commit, by way of what is held of its batch.
    pub(super) fn output(&mut self, output: Output) {
        let id = output.batch();
        if let Some(outputs) = self.lone.writing.get_mut(&id) {
            outputs.push(output);
            return;
        }
        let Some(held) = self.lone.held.get_mut(&id) else {
            return self.channels.send(output);
        };
        match output {
            Output::Outcome(recorded, place) => {
                if let Record::Outcome(row) = recorded.record {
                    held.outcome = Some((row, place));
                }
            }
            Output::Record(recorded) if matches!(recorded.record, Record::End(_)) => {
                self.end_held(id, recorded.record);
            }
            // Logs and artifacts refer to what must be written before them.
            other => {
                self.write_held(id);
                self.output(other);
            }
        }
    }

    fn end_held(&mut self, id: BatchId, end: Record) {
        let (Some(held), Record::End(end)) = (self.lone.held.remove(&id), end) else { return };
        let Admission { batch, mut requests, .. } = held.admitted.admission;
        if let (Some(batch), Some(request), Some((outcome, place))) =
            (batch, requests.pop(), held.outcome)
        {
            let row = Box::new(LoneRow { batch, request, outcome, end });
            self.channels.send(Output::Lone(row, place));
        }
    }
}
