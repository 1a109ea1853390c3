//! Connected workers, from their join to their end, as the loop knows them: the channel for their grants,
//! and the leases that they hold. The scheduler alone decides what they do next.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_api::operations::IncidentKind;
use assay_core::id::{LeaseId, RequestId, TicketId, WorkerId};
use assay_core::time::Micros;
use assay_sched::Event;
use assay_wire::proto;
use tokio::sync::{mpsc, oneshot};

use crate::clock::now;
use crate::handle::DispatchError;
use crate::incidents::of_workers;
use crate::shell::Shell;

/// A worker that has dialled in.
#[derive(Debug, Clone)]
pub struct Joining {
    pub ticket: TicketId,
    pub pool: Arc<str>,
    pub leases_max: usize,
    pub heard: LastContact,
}

/// The time of a worker's last message; its link writes it.
#[derive(Debug, Clone, Default)]
pub struct LastContact(Arc<AtomicU64>);

impl LastContact {
    pub fn now(&self) {
        self.0.store(now().0, Ordering::Relaxed);
    }

    pub(crate) fn at(&self) -> Micros {
        Micros(self.0.load(Ordering::Relaxed))
    }
}

/// The claim of a worker that it holds a lease.
#[derive(Debug, Clone, Copy)]
pub struct LeaseClaim {
    pub ticket: TicketId,
    pub lease: LeaseId,
}

/// The channel for a worker's grants; bounded by the number of leases that it may hold.
pub type WorkerLink = mpsc::UnboundedSender<proto::ToWorker>;

/// A connected worker.
pub(super) struct Worker {
    pub link: WorkerLink,
    pub ticket: TicketId,
    /// The process on this machine, for people.
    pub pid: Option<u32>,
    pub leases: HashMap<LeaseId, (RequestId, usize)>,
    /// The message that this turn of the loop has gathered for it.
    pub outbox: proto::ToWorker,
    pub pool: Arc<str>,
    pub joined_at: Micros,
    pub heard: LastContact,
    pub stages_done: u64,
    /// Whether it is asked to end as soon as it holds no lease.
    pub draining: bool,
    /// Whether it was asked to end, so that its end is no incident.
    pub dismissed: bool,
}

impl Worker {
    /// The worker in texts for people.
    pub(super) fn named(&self, WorkerId(id): WorkerId) -> String {
        match self.pid {
            Some(pid) => format!("worker {id} (process {pid}, ticket {})", self.ticket),
            None => format!("worker {id} (ticket {})", self.ticket),
        }
    }
}

impl Shell {
    pub(super) fn worker_joined(
        &mut self,
        joining: Joining,
        link: WorkerLink,
        reply: oneshot::Sender<WorkerId>,
    ) {
        let Joining { ticket, pool, leases_max, heard } = joining;
        self.workers_seen += 1;
        let worker = WorkerId(self.workers_seen);
        let joined = Worker {
            link,
            ticket,
            pid: self.fleet.pid(ticket),
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
        // The receiver is gone only if the link is stopping, and all workers with it.
        let _ = reply.send(worker);
        self.step(Event::WorkerJoined { worker, pool, leases_max });
    }

    pub(super) fn worker_lost(&mut self, worker: WorkerId) {
        if let Some(gone) = self.workers.remove(&worker) {
            // The connection has ended; its process may not have, so it is stopped.
            self.fleet.stop(gone.ticket);
            // When the server stops, workers end one after the other. A request that moved from
            // each to the next would end as lost; a restart runs it again instead.
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

    /// Records an incident, unless the worker was asked to end.
    fn note_death(&self, id: WorkerId, gone: &Worker) {
        if gone.dismissed {
            return;
        }
        let leases = gone.leases.len();
        let detail = format!("{} ended unasked with {leases} leases in hand", gone.named(id));
        self.notes.note(of_workers(now(), IncidentKind::WorkerDied, &gone.pool, detail));
    }

    /// The scheduler grants it nothing more; it is asked to end when it holds no lease.
    pub(super) fn drain(&mut self, id: WorkerId) -> Result<(), DispatchError> {
        let worker = self.workers.get_mut(&id).ok_or(DispatchError::NoWorker)?;
        worker.draining = true;
        self.step(Event::WorkerDraining { worker: id });
        Ok(())
    }
}
