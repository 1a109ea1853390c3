//! Single requests (`POST /v1/rewards`): scheduled at once, written together with their outcome.
//!
//! ```text
//!   held ──(outcome, end)──> one commit with everything ──> shown
//!    └──(not ended soon, or something else to write)──> writing ──(committed)──> like any other
//! ```
//!
//! A single request is acknowledged by its answer alone, so nothing is promised before that commit.
//! One that takes longer is committed before its outcome, because its caller may get its id.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use assay_api::batch::BatchState;
use assay_core::id::{BatchId, RequestId};
use assay_core::time::Micros;
use assay_sched::{Event, NewRequest};

use crate::batch::LiveBatch;
use crate::budget::BudgetPermit;
use crate::command::HashedItem;
use crate::committed::CommittedBatch;
use crate::dedup::Eligibility;
use crate::handle::Announcement;
use crate::publish::{Output, Pending, Waiter};
use crate::shell::Shell;
use assay_store::admissions::{Admission, Admitted, BatchMark};
use assay_store::outcomes::{OutcomeRow, Record};
use assay_store::single::SingleRow;

/// The time for which a single request may stay unwritten.
const HELD_MAX: Micros = Micros::from_ms(20);

#[derive(Default)]
pub(super) struct SingleRequests {
    held: HashMap<BatchId, Held>,
    due: VecDeque<(Micros, BatchId)>,
    /// Outputs that wait for the commit of their batch.
    writing: HashMap<BatchId, Vec<Output>>,
}

struct Held {
    admitted: Admitted,
    outcome: Option<(OutcomeRow, BudgetPermit)>,
}

impl SingleRequests {
    /// Whether the batch is a single request's that is not committed.
    pub(super) fn is_unwritten(&self, batch: BatchId) -> bool {
        self.held.contains_key(&batch) || self.writing.contains_key(&batch)
    }

    /// The time at which the next one must be written.
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
    pub(super) fn announce_single(
        &mut self,
        announcement: Announcement,
        item: HashedItem,
    ) -> Arc<CommittedBatch> {
        let Announcement { row, plugin, replays, .. } = announcement;
        let (tenant, id, at) = (row.tenant, row.id, row.announced_at);
        let committed = self.committed.put(row.clone(), plugin, true);
        let due = item.item.due;
        let mut batch = LiveBatch::new(committed.clone());
        batch.replays = replays;
        let requests = batch.take(vec![item]).map(|taken| taken.rows).unwrap_or_default();
        batch.state = BatchState::Sealed;
        self.batches.insert(id, batch);
        let admission = Admission { batch: Some(row), requests, mark: BatchMark::default() };
        let admitted = Admitted { tenant, batch: id, at, admission };
        self.single.held.insert(id, Held { admitted, outcome: None });
        self.single.due.push_back((at + HELD_MAX, id));
        self.batch_announced(id);
        let request = RequestId { batch: id, seq: 0 };
        let progress = self.progress_of(request, Eligibility::WaiterOnly);
        let requests =
            vec![NewRequest { seq: 0, group: None, arrived: at, deadline: due, progress }];
        self.submitted(id, requests);
        self.step(Event::BatchSealed { batch: id });
        committed
    }

    /// Writes those that have been held for long enough.
    pub(super) fn write_overdue(&mut self, now: Micros) {
        while self.single.due().is_some_and(|at| at <= now) {
            if let Some((_, id)) = self.single.due.pop_front() {
                self.write_held(id);
            }
        }
    }

    fn write_held(&mut self, id: BatchId) {
        let Some(held) = self.single.held.remove(&id) else { return };
        self.single.writing.insert(id, Vec::new());
        self.write(Pending { admitted: held.admitted, waiter: Waiter::Single });
    }

    /// A single request that took longer is committed: its waiting outputs are sent.
    pub(super) fn single_written(&mut self, id: BatchId, at: Micros) {
        if let Some(committed) = self.committed.find(id) {
            committed.change(|progress| {
                progress.state = BatchState::Sealed;
                progress.first_request_at = Some(at);
                progress.sealed_at = Some(at);
                progress.counts.submitted = 1;
            });
        }
        let request = RequestId { batch: id, seq: 0 };
        if let Some(key) = self.dedup_key(request) {
            self.dedup.make_eligible(key, request);
        }
        for output in self.single.writing.remove(&id).unwrap_or_default() {
            self.output(output);
        }
    }

    /// Sends an output to its group commit, unless its batch is held or not committed yet.
    pub(super) fn output(&mut self, output: Output) {
        let id = output.batch();
        if let Some(outputs) = self.single.writing.get_mut(&id) {
            outputs.push(output);
            return;
        }
        let Some(held) = self.single.held.get_mut(&id) else {
            return self.channels.send(output);
        };
        match output {
            Output::Outcome(recorded, permit) => {
                if let Record::Outcome(row) = recorded.record {
                    held.outcome = Some((row, permit));
                }
            }
            Output::Record(recorded) if matches!(recorded.record, Record::End(_)) => {
                self.end_held(id, recorded.record);
            }
            // Logs and artifacts refer to rows that must be written before them.
            other => {
                self.write_held(id);
                self.output(other);
            }
        }
    }

    fn end_held(&mut self, id: BatchId, end: Record) {
        let (Some(held), Record::End(end)) = (self.single.held.remove(&id), end) else { return };
        let Admission { batch, mut requests, .. } = held.admitted.admission;
        if let (Some(batch), Some(request), Some((outcome, permit))) =
            (batch, requests.pop(), held.outcome)
        {
            let row = Box::new(SingleRow { batch, request, outcome, end });
            self.channels.send(Output::Single(row, permit));
        }
    }
}
