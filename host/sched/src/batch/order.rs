//! By what a batch and its requests are ordered: its estimated end, and the turns of its requests.

use std::cmp::Reverse;
use std::sync::Arc;

use assay_core::time::Micros;

use super::Batch;
use crate::discipline::{Discipline, Turn};
use crate::estimate::{Estimates, LastBatch, expected, left_ms};
use crate::queue::{Place, Rank};

/// The expected end is told anew when it moved by more than this and by more than one part in
/// `TOLD_PART` of the time left.
const TOLD_MIN: Micros = Micros::from_ms(100);
const TOLD_PART: u64 = 20;

impl Batch {
    pub(crate) fn rank(&self) -> Rank {
        Rank { at: self.estimate.unwrap_or(Micros::MAX), announced: self.new.announced }
    }

    /// Estimates its completion anew (eq. 1 and 2, with expected times for the stages left); says
    /// whether it moved.
    pub(crate) fn refresh(&mut self, estimates: &Estimates) -> bool {
        let Some(first) = self.first_arrival else { return false };
        if self.estimate.is_none() {
            let last = estimates.last_batch(self.new.tenant, &self.new.run);
            self.span_before = last.map(|last| last.span);
            self.usual_left_ms = last.map_or_else(
                || estimates.usual_left_ms(&self.new.plugin, &self.new.stages),
                |last| Arc::clone(&last.left_ms),
            );
        }
        let means = estimates.stages(&self.new.plugin);
        let mut at = self.earliest_end.unwrap_or(Micros::ZERO);
        let mut left = Micros::ZERO;
        for (stage, reached) in self.stages.iter().enumerate().rev() {
            left = left + expected(means.get(stage).copied().flatten(), &self.new.stages[stage]);
            if reached.live > 0 {
                at = at.max(reached.latest + left);
            }
        }
        if self.waiters.live > 0 {
            // As if they ran: the batches of their primaries have ranks of their own.
            at = at.max(self.waiters.latest + left);
        }
        // Where no more requests are to come, how long the run's last batch took says nothing.
        if let Some(span) = self.span_before.filter(|_| !self.is_sealed()) {
            at = at.max(first + span);
        }
        let moved = self.estimate != Some(at);
        self.estimate = Some(at);
        moved
    }

    /// The estimate, when it is worth telling.
    pub(crate) fn tell(&mut self, now: Micros) -> Option<Micros> {
        let estimate = self.estimate?;
        if let Some(told) = self.told {
            let slack = TOLD_MIN.max(Micros(told.since(now).0 / TOLD_PART));
            if told.0.abs_diff(estimate.0) <= slack.0 {
                return None;
            }
        }
        self.told = Some(estimate);
        self.told
    }

    /// The request's turn in the pool of its stage. Where an earlier stage ran in the same pool, it keeps the turn that it
    /// had there: a pool ends what it began before it begins another request of the batch, or nobody would be answered
    /// until the first stage of all of them is over.
    ///
    /// Where the end of the batch matters (`by_expected`), what is expected to take longest comes first. A request of which
    /// the trainer told nothing counts as usual.
    fn turn(&self, seq: u32, by_expected: bool) -> Turn {
        let request = &self.requests[seq];
        let stages = &self.new.stages;
        let pool = &stages[request.stage()].pool;
        let first = stages.iter().position(|stage| stage.pool == *pool).unwrap_or(request.stage());
        let ready = if first < request.stage() { request.arrived } else { request.ready };
        let expected_ms = match request.expected_ms_from(first) {
            _ if !by_expected => 0,
            Some(told) => told,
            None => self.usual_left_ms.get(first).copied().unwrap_or(0),
        };
        Turn { expected_ms: Reverse(expected_ms), ready, seq }
    }

    /// By what a request's place in the queue of its stage's pool is found.
    pub(crate) fn place(&self, seq: u32, discipline: Discipline) -> Place {
        let request = &self.requests[seq];
        let (group, deadline) = (request.group, request.effective_deadline());
        let in_groups = discipline.serves_groups(self.new.consumes);
        let turn = self.turn(seq, discipline.goes_by_expected(in_groups));
        // Not worth a look-up where nobody asks.
        let left = if in_groups { self.left(group) } else { 0 };
        Place { rank: self.rank(), turn, group, in_groups, left, deadline }
    }

    /// The span and the times by which the run's next batch is ordered; `None` if no request came.
    pub(crate) fn completed(&self) -> Option<LastBatch> {
        let ended: Vec<(u32, Micros)> =
            self.stages.iter().map(|stage| (stage.ended, stage.ended_time)).collect();
        let span = self.earliest_end?.since(self.first_arrival?);
        Some(LastBatch { span, left_ms: left_ms(&ended) })
    }
}
