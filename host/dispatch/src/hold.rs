//! Holding first stages: they run no further ahead of later ones than there is memory for their artifacts.

use assay_core::id::{BatchId, TenantId};
use assay_core::outcome::{ErrorCode, StageEnd, StageError};
use assay_sched::{End, Event};

use crate::shell::Shell;
use crate::workers::HeldLease;

impl Shell {
    /// Takes the end of a stage, where there is memory for its artifact. Where there is none, its tenant's first stages are
    /// held, and a first stage is tried again later; another one fails, as its request holds memory for an artifact already.
    pub(super) fn take_end(&mut self, held: &HeldLease, end: StageEnd) -> (StageEnd, End) {
        let refused = self.batches.refuses_artifact(held.request.batch, &end);
        if let Some(tenant) = refused {
            self.hold_stages(tenant);
        }
        let end = match end {
            StageEnd::Next(_) if refused.is_some() && held.stage > 0 => {
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
        if self.batches.is_artifact_memory_scarce(tenant, false) {
            self.hold_stages(tenant);
        }
    }

    /// Starts no more first stages of the tenant, whose artifacts need more memory than there is.
    fn hold_stages(&mut self, tenant: TenantId) {
        if self.held.insert(tenant) {
            tracing::info!(%tenant, "first stages wait until later ones have taken their artifacts");
            self.step(Event::StagesHeld { tenant });
        }
    }

    /// Lets first stages start again of tenants for whose artifacts there is enough memory.
    pub(super) fn release_stages(&mut self) {
        let batches = &self.batches;
        let released = |tenant: &TenantId| !batches.is_artifact_memory_scarce(*tenant, true);
        let released: Vec<TenantId> = self.held.extract_if(.., released).collect();
        for tenant in released {
            self.step(Event::StagesReleased { tenant });
        }
    }
}
