//! Holding first stages: they run no further ahead of later ones than there is memory for their artifacts.

use assay_clock::now;
use assay_core::id::{BatchId, TenantId};
use assay_core::outcome::{Artifact, ErrorCode, StageEnd, StageError};
use assay_core::time::Micros;
use assay_sched::{End, Event};

use crate::shell::Shell;
use crate::workers::HeldLease;

/// The time for which stages stay held, for each request. It is meant to be many times what it takes to move one out of its
/// queue and back, so that a tenant whose stages are held and released in turns keeps the loop from nobody.
const HELD_MIN: Micros = Micros(20);

impl Shell {
    /// Takes the end of a stage, where there is memory for its artifact. Where there is none, its tenant's first stages are
    /// held, and the stage is tried again later. A later stage fails where no commit makes enough room, as its request holds
    /// memory already.
    pub(super) fn take_end(&mut self, held: &HeldLease, end: StageEnd) -> (StageEnd, End) {
        let refused = self.batches.refuses_artifact(held.request, &end);
        if let Some(tenant) = refused {
            self.hold_stages(tenant);
        }
        let may_wait = |artifact: &Artifact| {
            held.stage == 0 || self.batches.may_fit_after_commits(held.request, artifact)
        };
        let end = match end {
            StageEnd::Next(artifact) if refused.is_some() && !may_wait(&artifact) => {
                let message = "there is no memory for its artifact".into();
                StageEnd::Failed(StageError { code: ErrorCode::Unavailable, message })
            }
            end => end,
        };
        let kind = match &end {
            StageEnd::Next(_) if refused.is_some() => End::NoRoom,
            StageEnd::Next(_) => End::Next,
            StageEnd::Scored(_) => End::Scored,
            StageEnd::TimedOut => End::TimedOut,
            StageEnd::Failed(error) => End::Failed(error.code),
        };
        (end, kind)
    }

    /// After an artifact of the batch was taken: holds the first stages of its tenant where they have taken much of the memory.
    pub(super) fn hold_if_scarce(&mut self, batch: BatchId) {
        let Some(batch) = self.batches.get(batch) else { return };
        let tenant = batch.committed.row.tenant;
        if self.batches.is_artifact_memory_scarce(tenant) {
            self.hold_stages(tenant);
        }
    }

    /// Starts no more first stages of the tenant, whose artifacts need more memory than there is.
    fn hold_stages(&mut self, tenant: TenantId) {
        if self.held.contains_key(&tenant) {
            return;
        }
        tracing::info!(%tenant, "first stages wait until later ones have taken their artifacts");
        self.step(Event::StagesHeld { tenant });
        let count = self.sched.held(tenant);
        self.held.insert(tenant, now() + Micros(HELD_MIN.0.saturating_mul(count as u64)));
    }

    /// Lets first stages start again of tenants for whose artifacts there is enough memory.
    pub(super) fn release_stages(&mut self, now: Micros) {
        let batches = &self.batches;
        let released = |tenant: &TenantId, until: &mut Micros| {
            *until <= now && batches.is_artifact_memory_ample(*tenant)
        };
        let released: Vec<TenantId> =
            self.held.extract_if(.., released).map(|(tenant, _)| tenant).collect();
        for tenant in released {
            self.step(Event::StagesReleased { tenant });
        }
    }
}
