//! Connected workers, from their join to their end, as the loop knows them: where their grants go and
//! which leases they hold. What they do next is the scheduler's to decide.

use std::collections::HashMap;
use std::sync::Arc;

use assay_model::id::{LeaseId, RequestId, WorkerId};
use assay_model::operations::IncidentKind;
use assay_model::time::Micros;
use assay_sched::Event;
use assay_wire::proto;
use tokio::sync::oneshot;

use super::incidents::of_workers;
use super::shell::Shell;
use super::{DispatchError, Heard, Joining, WorkerLink, now};
use crate::fleet::Member;

/// A connected worker.
pub(super) struct Worker {
    pub link: WorkerLink,
    pub member: Member,
    pub pid: u32,
    pub leases: HashMap<LeaseId, (RequestId, usize)>,
    /// What this turn has for it.
    pub outbox: proto::ToWorker,
    pub pool: Arc<str>,
    pub joined_at: Micros,
    pub heard: Heard,
    pub stages_done: u64,
    /// It ends as soon as its hand is empty.
    pub draining: bool,
    /// It was told to end: that it does is no incident.
    pub dismissed: bool,
}

impl Shell {
    pub(super) fn worker_joined(
        &mut self,
        joining: Joining,
        link: WorkerLink,
        reply: oneshot::Sender<WorkerId>,
    ) {
        let Joining { member, pid, pool, in_hand_max, heard } = joining;
        self.workers_seen += 1;
        let worker = WorkerId(self.workers_seen);
        let joined = Worker {
            link,
            member,
            pid,
            leases: HashMap::new(),
            outbox: proto::ToWorker::default(),
            pool: Arc::clone(&pool),
            joined_at: now(),
            heard,
            stages_done: 0,
            draining: false,
            dismissed: false,
        };
        self.workers.insert(worker, joined);
        // Only a link that is stopping has gone, and with it every worker.
        let _ = reply.send(worker);
        self.step(Event::WorkerJoined { worker, pool, in_hand_max });
    }

    pub(super) fn worker_lost(&mut self, worker: WorkerId) {
        if let Some(gone) = self.workers.remove(&worker) {
            // Its connection is gone; what may be left of its process goes, too.
            self.fleet.stop(gone.member);
            // With the host all of them go, one after the other: a request that was handed on
            // from each to the next would end as lost. A restart brings it back.
            if !self.fleet.is_stopping() {
                self.note_death(worker, &gone);
                self.step(Event::WorkerLost { worker });
            }
        }
    }

    pub(super) fn note_failed_start(&self, pool: &Arc<str>) {
        let trouble = self.fleet.troubles().remove(pool);
        let error = trouble.map_or_else(|| "it did not say why".into(), |trouble| trouble.error);
        let kind = IncidentKind::WorkerStartFailed;
        self.notes.note(of_workers(now(), kind, pool, error));
    }

    /// One that was told to end is no incident.
    fn note_death(&self, id: WorkerId, gone: &Worker) {
        if gone.dismissed {
            return;
        }
        let (pid, leases) = (gone.pid, gone.leases.len());
        let detail =
            format!("worker {} (process {pid}) ended unasked with {leases} leases in hand", id.0);
        self.notes.note(of_workers(now(), IncidentKind::WorkerDied, &gone.pool, detail));
    }

    /// The scheduler gives it nothing more; it is told to end when its hand is empty.
    pub(super) fn drain(&mut self, id: WorkerId) -> Result<(), DispatchError> {
        let worker = self.workers.get_mut(&id).ok_or(DispatchError::NoWorker)?;
        worker.draining = true;
        self.step(Event::WorkerDraining { worker: id });
        Ok(())
    }
}
