//! One unfinished request: its state, and the times of its stages.
//!
//! ```text
//!                 granted                    scored, timed out, failed for good,
//!            +---------------+               lost or expired too often
//!            |               v             +----------------------------> ended
//!  ready -> WAITING       LEASED ----------+
//!            ^               |             +--> WAITING for the next stage (next)
//!            +---------------+
//!        revoked, preempted, of a worker that left, prefetched by a lost one, no room for its artifact: not counted
//!        failed in passing, lost, expired: one more try, unless a second worker runs it as well (hedged)
//!
//!                          its primary's outcome
//!  equal to one -> WAITS FOR PRIMARY ---------> ended
//!                       |
//!                       +--> WAITING: the primary has no outcome to share (released)
//! ```
//!
//! A cancelled or expired batch ends it from every state. An ended request is no longer here.
//! The batch owns it. It must never be in a queue and leased at once; while it waits for a primary it is
//! neither.

use assay_core::id::{RequestId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;

use crate::action::{FinalEnd, Finish, StageTiming};
use crate::event::End;
use crate::stage::StageShape;

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) group: Option<u32>,
    stage: u32,
    pub(crate) arrived: Micros,
    /// The time at which it became ready for its stage; it keeps its place in the queue over all tries.
    pub(crate) ready: Micros,
    /// The worker that holds its lease; `None` while it waits.
    pub(crate) holder: Option<WorkerId>,
    /// Ended tries of this stage.
    pub(crate) tries: u32,
    rare: Option<Box<Rare>>,
}

/// A million queued requests have one each.
const _: () = assert!(size_of::<Option<Request>>() <= 56);

/// The fields that few requests have. They are allocated apart, so that a million queued requests stay small.
#[derive(Debug, Default)]
struct Rare {
    /// The equal request whose outcome it waits for instead of running.
    primary: Option<RequestId>,
    /// The time at which the client that waits for it gives up; its entry among the scheduler's deadlines.
    deadline: Option<Micros>,
    /// The second worker that runs its stage.
    hedge: Option<WorkerId>,
    /// Whether this try had a second worker. It gets no other one: a request that ends its workers would go on for ever, as
    /// what is lost of two counts as no try.
    was_hedged: bool,
    /// The inherited deadline: the earliest estimated end among the batches whose requests wait for this one.
    inherited_deadline: Option<Micros>,
    /// Times of the stages that ended before the scheduler heard of it, one for each of them.
    before: Vec<Micros>,
    /// The stages that ended since.
    ran: Vec<StageTiming>,
    /// The time that its stages are expected to take together, in milliseconds.
    expected_ms: Option<u32>,
    /// The tries of this stage that failed, and those that were lost with their worker.
    failed: u32,
    lost: u32,
    /// The tries of this stage that ended because another tenant took the worker; they are not counted as tries.
    preempted: u32,
}

/// The consequence of the end of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TryConsequence {
    Advance,
    Retry,
    End(FinalEnd),
}

impl Request {
    /// `before` are the times of the stages that it is through with, one for each of them.
    pub(crate) fn new(
        group: Option<u32>,
        arrived: Micros,
        ready: Micros,
        before: Vec<Micros>,
    ) -> Self {
        Self {
            group,
            stage: u32::try_from(before.len()).expect("a plugin has few stages"),
            arrived,
            ready,
            holder: None,
            tries: 0,
            rare: (!before.is_empty()).then(|| Box::new(Rare { before, ..Rare::default() })),
        }
    }

    /// The stage that it waits for or runs, from 0.
    pub(crate) fn stage(&self) -> usize {
        self.stage as usize
    }

    pub(crate) fn expect(&mut self, expected_ms: Option<u32>) {
        if expected_ms.is_some() {
            self.rare_mut().expected_ms = expected_ms;
        }
    }

    /// The time that it is expected to take from a stage on that it has reached; `None` if its trainer told nothing.
    pub(crate) fn expected_ms_from(&self, stage: usize) -> Option<u32> {
        let expected = self.rare.as_ref()?.expected_ms?;
        let ran = self.times().take(stage).fold(Micros::ZERO, |ran, time| ran + time);
        Some(expected.saturating_sub(u32::try_from(ran.0 / 1_000).unwrap_or(u32::MAX)))
    }

    pub(crate) fn primary(&self) -> Option<RequestId> {
        self.rare.as_ref()?.primary
    }

    pub(crate) fn set_primary(&mut self, primary: Option<RequestId>) {
        if primary != self.primary() {
            self.rare_mut().primary = primary;
        }
    }

    pub(crate) fn hedge(&self) -> Option<WorkerId> {
        self.rare.as_ref()?.hedge
    }

    pub(crate) fn set_hedge(&mut self, hedge: Option<WorkerId>) {
        if hedge != self.hedge() {
            let rare = self.rare_mut();
            rare.hedge = hedge;
            rare.was_hedged |= hedge.is_some();
        }
    }

    /// Whether a second worker may run its stage.
    pub(crate) fn may_be_hedged(&self) -> bool {
        !self.rare.as_ref().is_some_and(|rare| rare.was_hedged)
    }

    /// A try has ended and counts.
    fn count_try(&mut self) {
        self.tries += 1;
        if let Some(rare) = &mut self.rare {
            rare.was_hedged = false;
        }
    }

    /// Whether it waits for a worker.
    pub(crate) fn waits(&self) -> bool {
        self.holder.is_none() && self.primary().is_none()
    }

    /// The other worker that runs its stage.
    pub(crate) fn other_holder(&self, worker: WorkerId) -> Option<WorkerId> {
        [self.holder, self.hedge()].into_iter().flatten().find(|holder| *holder != worker)
    }

    /// Takes the stage from one of the two workers that run it; `false` if no other runs it.
    pub(crate) fn leave_to_other(&mut self, worker: WorkerId) -> bool {
        let Some(hedge) = self.hedge() else { return false };
        if self.holder == Some(worker) {
            self.holder = Some(hedge);
        }
        self.set_hedge(None);
        true
    }

    pub(crate) fn deadline(&self) -> Option<Micros> {
        self.rare.as_ref()?.deadline
    }

    pub(crate) fn set_deadline(&mut self, deadline: Option<Micros>) {
        if deadline != self.deadline() {
            self.rare_mut().deadline = deadline;
        }
    }

    pub(crate) fn inherited_deadline(&self) -> Option<Micros> {
        self.rare.as_ref()?.inherited_deadline
    }

    pub(crate) fn inherit_deadline(&mut self, deadline: Micros) {
        self.rare_mut().inherited_deadline = Some(deadline);
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The earlier one of its own and its inherited deadline.
    pub(crate) fn effective_deadline(&self) -> Option<Micros> {
        [self.deadline(), self.inherited_deadline()].into_iter().flatten().min()
    }

    /// The paper's t_i (eq. 1), as far as its stages ran.
    pub(crate) fn earliest_end(&self) -> Micros {
        self.times().fold(self.arrived, |at, ran| at + ran)
    }

    /// How long each of its stages ran that ended, from the first on.
    pub(crate) fn times(&self) -> impl Iterator<Item = Micros> {
        self.rare.iter().flat_map(|rare| {
            rare.before.iter().copied().chain(rare.ran.iter().map(|stage| stage.ran))
        })
    }

    /// A try ended with an answer.
    pub(crate) fn answered(
        &mut self,
        end: End,
        shape: &StageShape,
        last: bool,
        worker_lost_retries_max: u32,
    ) -> TryConsequence {
        // The worker lives, but the try was lost all the same: no fault of the plugin's.
        if let End::Failed(code @ (ErrorCode::LeaseExpired | ErrorCode::WorkerLost)) = end {
            return self
                .lost(code, worker_lost_retries_max)
                .map_or(TryConsequence::Retry, TryConsequence::End);
        }
        self.holder = None;
        self.set_hedge(None);
        if end != End::NoRoom || last {
            self.count_try();
        }
        let failed = |code| TryConsequence::End(FinalEnd::Error { code, attempts: self.tries });
        match end {
            End::Next | End::NoRoom if last => failed(ErrorCode::BadOutcome),
            End::Next => TryConsequence::Advance,
            End::NoRoom => TryConsequence::Retry,
            End::Scored => TryConsequence::End(FinalEnd::Scored),
            // Tried again, it would run into its timeout again.
            End::TimedOut => TryConsequence::End(FinalEnd::TimedOut { stage: self.stage() }),
            End::Failed(code) if may_pass(code) && self.failed() < shape.retries_max => {
                self.rare_mut().failed += 1;
                TryConsequence::Retry
            }
            End::Failed(code) => failed(code),
        }
    }

    /// A try was lost with its worker.
    /// Returns how the request ends, or `None` when it is tried again.
    pub(crate) fn lost(&mut self, code: ErrorCode, retries_max: u32) -> Option<FinalEnd> {
        self.holder = None;
        self.count_try();
        let lost = &mut self.rare_mut().lost;
        *lost += 1;
        (*lost > retries_max).then_some(FinalEnd::Error { code, attempts: self.tries })
    }

    /// How the request ends; `last` is its last stage, where that ran to an end.
    pub(crate) fn into_finish(
        self,
        request: RequestId,
        end: FinalEnd,
        last: Option<StageTiming>,
        earliest_end: Micros,
    ) -> Finish {
        let mut stages = self.rare.map_or_else(Vec::new, |rare| rare.ran);
        stages.extend(last);
        Finish { request, end, stages, earliest_end }
    }

    /// Ready for the next stage, after one that took so long.
    pub(crate) fn advance(&mut self, timing: StageTiming, now: Micros) {
        self.stage += 1;
        self.ready = now;
        self.tries = 0;
        let rare = self.rare_mut();
        rare.ran.push(timing);
        (rare.failed, rare.lost, rare.preempted) = (0, 0, 0);
    }

    /// The tries of this stage that ended because another tenant took the worker.
    pub(crate) fn preempted(&self) -> u32 {
        self.rare.as_ref().map_or(0, |rare| rare.preempted)
    }

    pub(crate) fn preempt(&mut self) {
        self.rare_mut().preempted += 1;
    }

    fn failed(&self) -> u32 {
        self.rare.as_ref().map_or(0, |rare| rare.failed)
    }
}

/// Whether a try that ended so says nothing about the request, so that another may still decide.
pub(crate) const fn is_undecided(end: End) -> bool {
    match end {
        End::Failed(ErrorCode::LeaseExpired | ErrorCode::WorkerLost) => true,
        End::Failed(code) => may_pass(code),
        End::NoRoom => true,
        End::Next | End::Scored | End::TimedOut => false,
    }
}

/// Failures of a plugin or a capability that another try may not meet.
const fn may_pass(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::PluginError | ErrorCode::Unavailable | ErrorCode::PluginUnloadable)
}
