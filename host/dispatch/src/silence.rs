//! Trainers that fell silent: open batches whose requests have all ended and that get no more.
//!
//! Such a batch waits for its trainer alone, so nobody but its people can tell what happened. Each
//! silence is one incident.

use std::collections::HashMap;

use assay_api::operations::IncidentKind;
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_store::operations::IncidentRow;

const SILENT_FOR: Micros = Micros::from_secs(limits::TRAINER_SILENT_SECONDS);
const PERIOD: Micros = Micros::from_secs(30);

/// A batch that waits for its trainer.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingBatch<'a> {
    pub id: BatchId,
    pub tenant: TenantId,
    pub run: &'a str,
    pub iteration: u64,
    pub last_request_at: Micros,
}

#[derive(Default)]
pub(super) struct SilenceWatch {
    next: Micros,
    /// The batches that were reported, each with the time of its last request then.
    told: HashMap<BatchId, Micros>,
}

impl SilenceWatch {
    /// Whether it is time to look at the batches again.
    pub(super) fn is_due(&mut self, now: Micros) -> bool {
        let due = now >= self.next;
        if due {
            self.next = now + PERIOD;
        }
        due
    }

    /// The incidents of batches that have become silent.
    pub(super) fn look<'a>(
        &mut self,
        now: Micros,
        waiting: impl Iterator<Item = WaitingBatch<'a>>,
    ) -> Vec<IncidentRow> {
        let mut incidents = Vec::new();
        let mut told = HashMap::new();
        for batch in waiting.filter(|batch| now.since(batch.last_request_at) >= SILENT_FOR) {
            if self.told.get(&batch.id) != Some(&batch.last_request_at) {
                incidents.push(incident(batch, now));
            }
            told.insert(batch.id, batch.last_request_at);
        }
        self.told = told;
        incidents
    }
}

fn incident(batch: WaitingBatch<'_>, now: Micros) -> IncidentRow {
    let minutes = now.since(batch.last_request_at).0 / 60_000_000;
    IncidentRow {
        at: now,
        tenant: Some(batch.tenant),
        kind: IncidentKind::TrainerSilent,
        pool: None,
        batch: Some(batch.id),
        run: Some(batch.run.to_owned()),
        code: None,
        count: 1,
        detail: format!(
            "iteration {} is open, all its requests have ended, and no request has come for {minutes} min",
            batch.iteration
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_is_one_incident_and_a_new_request_begins_another() {
        let mut watch = SilenceWatch::default();
        let (id, tenant) = (BatchId::generate(), TenantId::generate());
        let waiting = |last_request_at| {
            let batch = WaitingBatch { id, tenant, run: "r", iteration: 7, last_request_at };
            std::iter::once(batch)
        };
        let last = Micros::from_secs(1_000);
        let silent = last + SILENT_FOR;
        assert!(watch.look(Micros(silent.0 - 1), waiting(last)).is_empty());
        let told = watch.look(silent, waiting(last));
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].kind, IncidentKind::TrainerSilent);
        assert!(told[0].detail.ends_with("no request has come for 5 min"), "{}", told[0].detail);
        assert!(watch.look(silent + PERIOD, waiting(last)).is_empty());
        assert!(watch.look(silent + PERIOD, waiting(silent)).is_empty());
        assert_eq!(watch.look(silent + SILENT_FOR, waiting(silent)).len(), 1);
    }

    #[test]
    fn batches_are_looked_at_twice_a_minute() {
        let mut watch = SilenceWatch::default();
        let now = Micros::from_secs(1_000);
        assert!(watch.is_due(now));
        assert!(!watch.is_due(now + Micros(1)));
        assert!(watch.is_due(now + PERIOD));
    }
}
