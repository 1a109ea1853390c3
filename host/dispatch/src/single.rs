//! Single requests (`POST /v1/rewards`): scheduled at once, written together with their outcome.
//!
//! ```text
//!   held ──(outcome, end)──> one commit with everything ──> shown
//!    └──(not ended soon, or something else to write)──> writing ──(committed)──> like any other
//!                                                          └──(refused)──> dropped up to its end
//! ```
//!
//! A single request is acknowledged by its answer alone, so nothing is promised before that commit.
//! One that takes longer is committed before its outcome, because its caller may get its id.

use std::collections::{HashMap, HashSet, VecDeque};

use assay_core::id::BatchId;
use assay_core::time::Micros;
use assay_store::admissions::{Admission, Admitted};
use assay_store::group_commit::Write as _;
use assay_store::outcomes::{EndRow, OutcomeRow, Record};
use assay_store::single::SingleRow;

use crate::publish::Output;
use crate::traces::UntilCommit;

/// The time for which a single request may stay unwritten.
const HELD_MAX: Micros = Micros::from_ms(20);

/// The single requests that are not committed. It writes nothing itself.
#[derive(Default)]
pub(super) struct SingleRequests {
    held: HashMap<BatchId, HeldRequest>,
    due: VecDeque<(Micros, BatchId)>,
    /// Outputs that wait for the commit of their batch.
    writing: HashMap<BatchId, Vec<Output>>,
    /// Batches that the database refused, until their end.
    refused: HashSet<BatchId>,
}

struct HeldRequest {
    admitted: Admitted,
    outcome: Option<(OutcomeRow, UntilCommit)>,
}

/// The next step for an output.
pub(super) enum Route {
    Send(Output),
    /// The output is kept until more of its batch is known or its batch is committed, or dropped as the
    /// database refused its batch.
    Keep,
    /// The admission must be written now; the output is kept until it is committed.
    Write(Box<Admitted>),
}

impl SingleRequests {
    /// Keeps an admission unwritten, at most until it is due.
    pub(super) fn hold(&mut self, admitted: Admitted) {
        let id = admitted.batch;
        self.due.push_back((admitted.at + HELD_MAX, id));
        self.held.insert(id, HeldRequest { admitted, outcome: None });
    }

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

    /// An admission that has been held for long enough; it must be written now.
    pub(super) fn take_due(&mut self, now: Micros) -> Option<Admitted> {
        self.due().filter(|at| *at <= now)?;
        let (_, id) = self.due.pop_front()?;
        self.start_writing(id, Vec::new())
    }

    fn start_writing(&mut self, id: BatchId, outputs: Vec<Output>) -> Option<Admitted> {
        let held = self.held.remove(&id)?;
        self.writing.insert(id, outputs);
        Some(held.admitted)
    }

    /// The admission is committed; returns the outputs that waited for it.
    pub(super) fn written(&mut self, id: BatchId) -> Vec<Output> {
        self.writing.remove(&id).unwrap_or_default()
    }

    /// The database refused the admission: nothing of it can be written.
    pub(super) fn refused(&mut self, id: BatchId) {
        let outputs = self.written(id);
        if !outputs.iter().any(Output::is_end) {
            self.refused.insert(id);
        }
    }

    /// An output may be sent to its group commit unless its batch is held or not committed yet.
    pub(super) fn route(&mut self, output: Output) -> Route {
        let id = output.batch();
        if self.refused.contains(&id) {
            if output.is_end() {
                self.refused.remove(&id);
            }
            return Route::Keep;
        }
        if let Some(outputs) = self.writing.get_mut(&id) {
            outputs.push(output);
            return Route::Keep;
        }
        let Some(held) = self.held.get_mut(&id) else { return Route::Send(output) };
        match output {
            Output::Outcome(recorded, until_commit) => {
                if let Record::Outcome(row) = recorded.record {
                    held.outcome = Some((row, until_commit));
                }
                Route::Keep
            }
            Output::Record(recorded, _) if recorded.is_end() => {
                let Record::End(end) = recorded.record else { return Route::Keep };
                self.end(id, end).map_or(Route::Keep, Route::Send)
            }
            // Logs and artifacts refer to rows that must be written before them.
            other => self
                .start_writing(id, vec![other])
                .map_or(Route::Keep, |admitted| Route::Write(Box::new(admitted))),
        }
    }

    /// It ended while it was held: one commit with everything.
    fn end(&mut self, id: BatchId, end: EndRow) -> Option<Output> {
        let HeldRequest { admitted, outcome } = self.held.remove(&id)?;
        let Admission { batch, mut requests, .. } = admitted.admission;
        let (outcome, until_commit) = outcome?;
        let row = SingleRow { batch: batch?, request: requests.pop()?, outcome, end };
        Some(Output::Single(Box::new(row), until_commit))
    }
}

#[cfg(test)]
mod tests {
    use assay_api::batch::BatchState;
    use assay_api::result::Counts;
    use assay_store::admissions::{BatchMark, RequestRow};
    use assay_store::outcomes::Recorded;

    use super::*;
    use crate::batch::tests::row;
    use crate::publish::RowMemory;

    const START: Micros = Micros::from_secs(1_000);

    fn admitted() -> Admitted {
        let row = row();
        let (tenant, batch) = (row.tenant, row.id);
        let body = bytes::Bytes::new();
        let request = RequestRow { seq: 0, key: "a".into(), group: None, body, expected_ms: None };
        let (batch_row, requests, mark) = (Some(row), vec![request], BatchMark::default());
        let admission = Admission { batch: batch_row, requests, mark };
        Admitted { tenant, batch, at: START, admission }
    }

    fn record(admitted: &Admitted, record: Record) -> Recorded {
        Recorded { tenant: admitted.tenant, batch: admitted.batch, record }
    }

    fn outcome(admitted: &Admitted) -> Output {
        let row = OutcomeRow {
            seq: 0,
            position: 1,
            kind: "scored",
            reward: Some(1.0),
            verdict: String::new(),
            earliest_end_at: START,
            finished_at: START,
            shared: false,
            result: bytes::Bytes::from_static(b"{}"),
        };
        Output::Outcome(record(admitted, Record::Outcome(row)), UntilCommit::default())
    }

    fn end(admitted: &Admitted) -> Output {
        let row = EndRow {
            state: BatchState::Done,
            ended_at: START,
            earliest_end_at: None,
            tolerance: Micros::ZERO,
            counts: Counts::default(),
            reward_sum: 1.0,
            usage: Vec::new(),
            history: None,
            summary: None,
        };
        Output::Record(record(admitted, Record::End(row)), RowMemory::default())
    }

    fn logs(admitted: &Admitted) -> Output {
        Output::Record(record(admitted, Record::Logs(Vec::new())), RowMemory::default())
    }

    #[test]
    fn one_that_ends_soon_is_one_commit() {
        let (mut single, held) = (SingleRequests::default(), admitted());
        let (outcome, end, id) = (outcome(&held), end(&held), held.batch);
        single.hold(held);
        assert!(single.is_unwritten(id));
        assert_eq!(single.due(), Some(START + HELD_MAX));
        assert!(matches!(single.route(outcome), Route::Keep));
        let Route::Send(Output::Single(row, _)) = single.route(end) else { panic!("it ended") };
        assert_eq!((row.batch.id, row.outcome.position), (id, 1));
        assert!(!single.is_unwritten(id) && single.due().is_none());
    }

    #[test]
    fn one_that_takes_longer_is_written_first_and_its_outputs_follow() {
        let (mut single, held) = (SingleRequests::default(), admitted());
        let (outcome, end, id) = (outcome(&held), end(&held), held.batch);
        single.hold(held);
        assert!(single.take_due(START + HELD_MAX - Micros(1)).is_none());
        let written = single.take_due(START + HELD_MAX).expect("it is due");
        assert_eq!((written.batch, written.admission.requests.len()), (id, 1));
        assert!(single.take_due(START + HELD_MAX).is_none() && single.is_unwritten(id));
        assert!(matches!(single.route(outcome), Route::Keep));
        assert!(matches!(single.route(end), Route::Keep));
        let outputs = single.written(id);
        assert!(matches!(&outputs[..], [Output::Outcome(..), Output::Record(..)]));
        assert!(!single.is_unwritten(id));
        assert!(outputs.into_iter().all(|output| matches!(single.route(output), Route::Send(_))));
    }

    #[test]
    fn nothing_of_a_refused_one_is_written() {
        let (mut single, held) = (SingleRequests::default(), admitted());
        let (outcome, end, late) = (outcome(&held), end(&held), logs(&held));
        let id = held.batch;
        single.hold(held);
        assert!(single.take_due(START + HELD_MAX).is_some());
        single.refused(id);
        assert!(matches!(single.route(outcome), Route::Keep));
        assert!(matches!(single.route(end), Route::Keep));
        assert!(single.written(id).is_empty() && single.refused.is_empty());
        // Its end may have been there already; then nothing follows it.
        single.writing.insert(id, vec![late, super::tests::end(&admitted())]);
        single.refused(id);
        assert!(single.refused.is_empty() && single.writing.is_empty());
    }

    #[test]
    fn logs_are_written_after_the_rows_that_they_refer_to() {
        let (mut single, held) = (SingleRequests::default(), admitted());
        let (first, second, id) = (logs(&held), logs(&held), held.batch);
        single.hold(held);
        let Route::Write(written) = single.route(first) else { panic!("its rows come first") };
        assert_eq!(written.batch, id);
        assert!(matches!(single.route(second), Route::Keep));
        assert_eq!(single.written(id).len(), 2);
        assert!(single.due().is_none());
    }
}
