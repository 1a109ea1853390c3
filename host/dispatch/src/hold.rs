//! Holding stages: they run no further ahead of later ones than there is memory for their artifacts.
//!
//! ```text
//!             over half of the share is taken,       a later stage has no room
//!             or a first stage has no room           for its artifact
//!   NOTHING -------------------------------> FIRST ------------------------------> ALL BUT LAST
//!      ^                                     |   ^                                   |   |
//!      |   at most a quarter is taken        |   |  at most half is taken, or no     |   |
//!      +-------------------------------------+   |  last stage is left               |   |
//!      |                                         +-----------------------------------+   |
//!      +----------------------- at most a quarter is taken ------------------------------+
//! ```
//!
//! The states are what is held of a tenant's stages; a later stage without room leads from `NOTHING` to `ALL BUT LAST` too. A last
//! stage needs no memory, and makes room as it ends, so that the stages before it wait for something that comes. Where no last
//! stage is left that a worker could run, nothing would make room: those before it start, and one that finds no room even then
//! fails, unless artifacts are on their way to the database, which may make room: then it is tried again. First stages leave a
//! part of the share to later ones, so that some of those find room then.

use assay_clock::now;
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::outcome::{Artifact, ErrorCode, StageEnd, StageError};
use assay_core::time::Micros;
use assay_sched::{End, Event, HeldStages};

use crate::shell::{HELD_LOOK, Shell, StageHold};
use crate::workers::HeldLease;

/// The time for which stages stay held at least, for each request that this moves. It is meant to be many times what it takes to
/// move one out of its queue and back, so that a tenant whose stages are held and released in turns keeps the loop from nobody.
const HELD_MIN: Micros = Micros(20);

impl Shell {
    /// Takes the end of a stage, where there is memory for its artifact. Where there is none, the stage is held for its tenant,
    /// and is tried again later. A later stage fails where nothing is about to make room, as its request holds memory already.
    pub(super) fn take_end(&mut self, held: &HeldLease, end: StageEnd) -> (StageEnd, End) {
        match (self.batches.refuses_artifact(held.request, held.stage, &end), end) {
            (Some(tenant), StageEnd::Next(artifact)) => {
                let is_first = held.stage == 0;
                if is_first || self.may_get_room(tenant, held.request, &artifact) {
                    let stages = if is_first { HeldStages::First } else { HeldStages::AllButLast };
                    self.hold_stages(tenant, stages);
                    return (StageEnd::Next(artifact), End::NoRoom);
                }
                self.hold_stages(tenant, HeldStages::First);
                let (code, message) =
                    (ErrorCode::Unavailable, "there is no memory for its artifact".into());
                (StageEnd::Failed(StageError { code, message }), End::Failed(code))
            }
            (_, end) => {
                let kind = match &end {
                    StageEnd::Next(_) => End::Next,
                    StageEnd::Scored(_) => End::Scored,
                    StageEnd::TimedOut => End::TimedOut,
                    StageEnd::Failed(error) => End::Failed(error.code),
                };
                (end, kind)
            }
        }
    }

    /// Whether there may be room for a later stage's artifact when last stages have ended, or commits.
    fn may_get_room(&self, tenant: TenantId, request: RequestId, artifact: &Artifact) -> bool {
        let fits = self.batches.may_fit_alone(tenant, artifact);
        fits && self.sched.has_last_stages(tenant)
            || self.batches.may_fit_after_commits(request, artifact)
    }

    /// After an artifact of the batch was taken: holds the first stages of its tenant where artifacts have taken much of the
    /// memory.
    pub(super) fn hold_if_scarce(&mut self, batch: BatchId) {
        let Some(batch) = self.batches.get(batch) else { return };
        let tenant = batch.committed.row.tenant;
        if self.batches.is_artifact_memory_scarce(tenant) {
            self.hold_stages(tenant, HeldStages::First);
        }
    }

    /// Holds these stages of the tenant, unless as many are held already.
    fn hold_stages(&mut self, tenant: TenantId, stages: HeldStages) {
        if self.held.get(&tenant).is_some_and(|hold| hold.stages >= stages) {
            return;
        }
        match stages {
            HeldStages::First => {
                tracing::info!(%tenant, "first stages wait until later ones have taken their artifacts");
            }
            HeldStages::AllButLast => {
                tracing::info!(%tenant, "all stages but the last wait until those have taken their artifacts");
            }
        }
        self.replace_hold(tenant, stages);
    }

    /// Holds these stages of the tenant in place of those that are held.
    fn replace_hold(&mut self, tenant: TenantId, stages: HeldStages) {
        let before = self.sched.held(tenant);
        self.step(Event::StagesHeld { tenant, stages });
        let moved = self.sched.held(tenant).abs_diff(before);
        let moved = Micros(HELD_MIN.0.saturating_mul(moved as u64));
        let least = match stages {
            HeldStages::First => Micros::ZERO,
            // A stage that finds no room again has run in vain.
            HeldStages::AllButLast => HELD_LOOK,
        };
        self.held.insert(tenant, StageHold { stages, until: now() + moved.max(least) });
    }

    /// Lets held stages start again: all of a tenant where there is enough memory for its artifacts, or all but the first ones.
    pub(super) fn release_stages(&mut self, now: Micros) {
        let due = self.held.iter().filter(|(_, hold)| hold.until <= now);
        let due: Vec<(TenantId, HeldStages)> =
            due.map(|(tenant, hold)| (*tenant, hold.stages)).collect();
        for (tenant, stages) in due {
            if self.batches.is_artifact_memory_ample(tenant) {
                self.held.remove(&tenant);
                self.step(Event::StagesReleased { tenant });
            } else if stages == HeldStages::AllButLast {
                self.release_later_stages(tenant, now);
            }
        }
    }

    /// Lets all stages but the first start again, where the memory is no longer scarce or nothing is left that makes room.
    fn release_later_stages(&mut self, tenant: TenantId, now: Micros) {
        let is_scarce = self.batches.is_artifact_memory_scarce(tenant);
        if !is_scarce || !self.sched.has_last_stages(tenant) {
            self.replace_hold(tenant, HeldStages::First);
        } else if let Some(hold) = self.held.get_mut(&tenant) {
            // Looking at all batches costs too much for each turn of the loop.
            hold.until = now + HELD_LOOK;
        }
    }
}
