//! Starts that failed, and the pauses before the next ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use assay_core::id::TicketId;
use assay_core::limits;
use assay_core::time::Micros;

use super::{Effect, FleetState, FleetWorker, Phase};
use crate::launcher::WorkerEnd;

/// Why the last starts of a pool's workers failed.
#[derive(Debug, Clone)]
pub struct StartFailure {
    /// The number of failures since the last success.
    pub failures: u64,
    pub error: String,
    pub failed_at: Micros,
    pub next_try_at: Micros,
}

/// The results of a pool's last starts.
#[derive(Default)]
pub(super) struct Starts {
    /// The number of failures in a row; starts that fail together count once.
    pub(super) level: u32,
    trouble: Option<StartFailure>,
    /// The time before which none is started, because the last one ended soon after it joined.
    pub(super) paused_until: Option<Micros>,
}

impl FleetState {
    pub(crate) fn troubles(&self) -> BTreeMap<Arc<str>, StartFailure> {
        let troubles = self.pools.iter();
        troubles
            .filter_map(|(pool, starts)| Some((Arc::clone(pool), starts.trouble.clone()?)))
            .collect()
    }

    /// A worker that joined has ended a stage, or lived for a while: starts of its pool succeed.
    pub(crate) fn proven(&mut self, ticket: TicketId) {
        let Some(worker) = self.workers.get_mut(&ticket) else { return };
        let joined = matches!(worker.phase, Phase::Joined | Phase::Leaving);
        if joined && !std::mem::replace(&mut worker.is_proven, true) {
            self.pools.remove(&worker.pool);
        }
    }

    /// Records the reason and the pause before the report.
    pub(super) fn failed(
        &mut self,
        now: Micros,
        ticket: TicketId,
        error: String,
    ) -> Option<Effect> {
        let worker = self.workers.get_mut(&ticket)?;
        worker.phase = Phase::Failed;
        let starts = self.failed_start(now, ticket, error)?;
        let next_try_at = starts.trouble.as_ref()?.next_try_at;
        Some(Effect::ReportAfter(ticket, next_try_at.since(now).into()))
    }

    /// A worker ended soon after it joined: its start counts as failed, and the next one waits.
    pub(super) fn broke(&mut self, now: Micros, ticket: TicketId, why: &str) {
        let error = format!("a worker ended soon after it joined: {why}");
        if let Some(starts) = self.failed_start(now, ticket, error) {
            starts.paused_until = starts.trouble.as_ref().map(|trouble| trouble.next_try_at);
        }
    }

    fn failed_start(
        &mut self,
        now: Micros,
        ticket: TicketId,
        error: String,
    ) -> Option<&mut Starts> {
        let worker = self.workers.get(&ticket)?;
        let (pool, level) = (&worker.pool, worker.level);
        let starts = self.pools.entry(Arc::clone(pool)).or_default();
        let first = starts.level <= level;
        starts.level = starts.level.max(level.saturating_add(1));
        let pause = pause(starts.level);
        let next_try_at = now + Micros::from(pause);
        let failures = starts.trouble.as_ref().map_or(0, |trouble| trouble.failures) + 1;
        if first {
            tracing::error!(
                worker.pool = &**pool,
                worker.ticket = %ticket,
                failures,
                "a worker cannot be started, the next try comes in {} ms: {error}",
                pause.as_millis()
            );
        }
        starts.trouble = Some(StartFailure { failures, error, failed_at: now, next_try_at });
        Some(starts)
    }
}

impl FleetWorker {
    /// Whether its end now would count as that of its start: nobody asked for it, and it has done nothing.
    pub(super) fn is_broken(&self) -> bool {
        self.phase == Phase::Joined && !self.is_proven && self.leaving.is_none()
    }
}

pub(super) fn before_it_joined(how: WorkerEnd) -> String {
    match how {
        WorkerEnd::NotStarted(error) => error,
        WorkerEnd::Finished(how) | WorkerEnd::Failed(how) => {
            format!("a worker ended before it joined: {how}")
        }
        WorkerEnd::Lost => "a worker was lost before it joined".into(),
    }
}

/// The pause before the next start after `level` failures in a row.
pub(super) fn pause(level: u32) -> Duration {
    let doubled = limits::WORKER_RETRY_MS_MIN << level.saturating_sub(1).min(32);
    Duration::from_millis(doubled.min(limits::WORKER_RETRY_MS_MAX))
}
