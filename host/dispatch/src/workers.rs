//! Connected workers, from their join to their end, as the loop knows them: the channel for their grants,
//! and the leases that they hold. The scheduler alone decides what they do next.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_clock::now;
use assay_core::architecture::Architecture;
use assay_core::id::{Digest, LeaseId, RequestId, TicketId, WorkerId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_wire::{MESSAGE_BYTES_MAX, proto};
use bytes::Bytes;
use prost::Message as _;
use tokio::sync::mpsc;

use crate::handle::DispatchError;
use crate::plugin::ReadyPlugin;

/// A worker that has dialled in.
#[derive(Debug, Clone)]
pub struct Joining {
    pub ticket: TicketId,
    pub pool: Arc<str>,
    pub architecture: Architecture,
    pub leases_max: usize,
    pub heard: LastContact,
    /// Whether it came by itself.
    pub came: bool,
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

/// Counts the time since a worker's last heartbeat for which its stages were ready to run and had no processor.
pub fn count_run_delay(pool: &str, delay: Micros) {
    metrics::histogram!("assay_worker_run_delay_seconds", "pool" => pool.to_owned())
        .record(delay.as_secs_f64());
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
    /// Whether it came by itself.
    pub came: bool,
    pub leases: HashMap<LeaseId, HeldLease>,
    leases_max: usize,
    /// Leases that were revoked, and that it may have started all the same. It runs leases in their order: an answer
    /// to a later one says that it runs none of them.
    revoked: BTreeMap<LeaseId, HeldLease>,
    /// The message that this turn of the loop has gathered for it.
    pub outbox: proto::ToWorker,
    pub pool: Arc<str>,
    /// The architecture for which its plugins are compiled.
    pub architecture: Architecture,
    pub joined_at: Micros,
    pub heard: LastContact,
    pub stages_done: u64,
    /// The compiled plugins that it was last told to load, the latest one at the end.
    told: VecDeque<Digest>,
    /// Whether it is asked to end as soon as it holds no lease.
    pub draining: bool,
    /// Whether it was asked to end, so that its end is no incident.
    pub dismissed: bool,
}

/// The purpose of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeldLease {
    pub request: RequestId,
    pub stage: usize,
    pub granted: Micros,
    /// Whether it was revoked when the worker had started it: what comes of it is for nothing.
    pub revoked: bool,
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

impl Worker {
    /// Adds a plugin to its next message, unless it was told of it not long ago.
    fn preload(&mut self, compiled: Digest) {
        if self.told.contains(&compiled) {
            return;
        }
        self.told.push_back(compiled);
        if self.told.len() > limits::PRELOADED_PLUGINS_MAX {
            self.told.pop_front();
        }
        self.outbox.preload.push(Bytes::copy_from_slice(&compiled.0));
    }
}

/// All connected workers.
#[derive(Default)]
pub(super) struct Workers {
    /// In the order in which they joined, as messages are sent.
    by_id: BTreeMap<WorkerId, Worker>,
    /// The number of workers that ever joined; the last one's id.
    joined: u64,
    /// The plugins that channels were pointed to last, the newest first.
    promoted: VecDeque<Arc<ReadyPlugin>>,
}

impl Workers {
    /// `pid` is the worker's process on this machine, if it has one.
    pub(super) fn join(
        &mut self,
        joining: Joining,
        pid: Option<u32>,
        link: WorkerLink,
        now: Micros,
    ) -> WorkerId {
        let Joining { ticket, pool, architecture, leases_max, heard, came } = joining;
        self.joined += 1;
        let id = WorkerId(self.joined);
        let worker = Worker {
            link,
            ticket,
            pid,
            came,
            leases: HashMap::new(),
            leases_max,
            revoked: BTreeMap::new(),
            outbox: proto::ToWorker::default(),
            pool,
            architecture,
            joined_at: now,
            heard,
            stages_done: 0,
            told: VecDeque::new(),
            draining: false,
            dismissed: false,
        };
        self.by_id.insert(id, worker);
        id
    }

    pub(super) fn remove(&mut self, id: WorkerId) -> Option<Worker> {
        self.by_id.remove(&id)
    }

    pub(super) fn get(&self, id: WorkerId) -> Option<&Worker> {
        self.by_id.get(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.by_id.iter().map(|(id, worker)| (*id, worker))
    }

    /// Has a worker that joined load plugins before it has requests for them: those of live batches first, then those
    /// that channels were pointed to last, up to the number that it remembers.
    pub(super) fn preload(&mut self, id: WorkerId, of_batches: &[Digest]) {
        let Some(worker) = self.by_id.get_mut(&id) else { return };
        let promoted = self.promoted.iter().filter(|plugin| plugin.runs_on(&worker.pool));
        let promoted = promoted.map(|plugin| plugin.compiled_for(worker.architecture));
        let all: Vec<Digest> = of_batches.iter().copied().chain(promoted).collect();
        all.into_iter()
            .take(limits::PRELOADED_PLUGINS_MAX)
            .for_each(|digest| worker.preload(digest));
    }

    /// Has all workers that may run a plugin load it, and those that join while it is among the newest.
    pub(super) fn preload_promoted(&mut self, plugin: Arc<ReadyPlugin>) {
        self.preload_all(&plugin);
        self.promoted.retain(|known| known.digest != plugin.digest);
        self.promoted.push_front(plugin);
        self.promoted.truncate(limits::PRELOADED_PLUGINS_MAX);
    }

    /// Has all workers that may run a plugin load it.
    pub(super) fn preload_all(&mut self, plugin: &ReadyPlugin) {
        for worker in self.by_id.values_mut().filter(|worker| plugin.runs_on(&worker.pool)) {
            worker.preload(plugin.compiled_for(worker.architecture));
        }
    }

    /// Adds a lease to the worker's next message.
    pub(super) fn grant(&mut self, id: WorkerId, held: HeldLease, grant: proto::Grant) {
        if let Some(worker) = self.by_id.get_mut(&id) {
            worker.leases.insert(LeaseId(grant.lease), held);
            worker.outbox.grants.push(grant);
        }
    }

    /// Takes a lease back, before or after it was sent; returns it, if the worker held it.
    pub(super) fn revoke(&mut self, id: WorkerId, lease: LeaseId) -> Option<HeldLease> {
        let worker = self.by_id.get_mut(&id)?;
        let held = worker.leases.remove(&lease)?;
        let unsent = worker.outbox.grants.iter().position(|grant| grant.lease == lease.0);
        if let Some(place) = unsent {
            worker.outbox.grants.remove(place);
            return Some(held);
        }
        worker.outbox.revoked.push(lease.0);
        worker.revoked.insert(lease, HeldLease { revoked: true, ..held });
        // The scheduler remembers as many.
        if worker.revoked.len() > worker.leases_max.max(1) {
            worker.revoked.pop_first();
        }
        Some(held)
    }

    /// The worker says that it had started a lease when it was revoked. Returns whether that may be: it holds it again then.
    pub(super) fn started_before_revoked(&mut self, id: WorkerId, lease: LeaseId) -> bool {
        let Some(worker) = self.by_id.get_mut(&id) else { return false };
        let Some(held) = worker.revoked.remove(&lease) else { return false };
        worker.leases.insert(lease, held);
        true
    }

    /// The worker ended a stage; returns the lease, if it holds it.
    pub(super) fn finished(&mut self, id: WorkerId, lease: LeaseId) -> Option<HeldLease> {
        let worker = self.by_id.get_mut(&id)?;
        let held = worker.leases.remove(&lease)?;
        if !worker.revoked.is_empty() {
            worker.revoked = worker.revoked.split_off(&lease);
        }
        worker.stages_done += 1;
        Some(held)
    }

    /// The request of a lease that this worker holds now.
    pub(super) fn request_of(&self, claim: LeaseClaim) -> Option<RequestId> {
        let worker = self.by_id.values().find(|worker| worker.ticket == claim.ticket)?;
        worker.leases.get(&claim.lease).map(|held| held.request)
    }

    /// The worker is asked to end as soon as it holds no lease.
    pub(super) fn drain(&mut self, id: WorkerId) -> Result<(), DispatchError> {
        let worker = self.by_id.get_mut(&id).ok_or(DispatchError::NoWorker)?;
        worker.draining = true;
        Ok(())
    }

    /// From now on its end is no incident; returns the ticket of the worker to stop.
    pub(super) fn dismiss(&mut self, id: WorkerId) -> Option<TicketId> {
        let worker = self.by_id.get_mut(&id)?;
        worker.dismissed = true;
        Some(worker.ticket)
    }

    /// From now on the end of the worker with this ticket is no incident, if it is here.
    pub(super) fn expect_end(&mut self, ticket: TicketId) {
        for worker in self.by_id.values_mut().filter(|worker| worker.ticket == ticket) {
            worker.dismissed = true;
        }
    }

    /// Sends each worker its message of this turn; returns the tickets of drained workers to stop.
    pub(super) fn send_outboxes(&mut self) -> Vec<TicketId> {
        let mut drained = Vec::new();
        for worker in self.by_id.values_mut() {
            if worker.draining && worker.leases.is_empty() && !worker.dismissed {
                worker.dismissed = true;
                drained.push(worker.ticket);
            }
            if worker.outbox != proto::ToWorker::default() {
                send(&worker.link, std::mem::take(&mut worker.outbox));
            }
        }
        drained
    }
}

/// Sends a message; grants that are too large for one follow in others.
fn send(link: &WorkerLink, mut message: proto::ToWorker) {
    let mut bytes = 0;
    for grant in std::mem::take(&mut message.grants) {
        let size = grant.encoded_len();
        // Half the limit leaves room for the rest of the message; one grant alone is well below it.
        if bytes + size > MESSAGE_BYTES_MAX / 2 && !message.grants.is_empty() {
            // A closed link is reported by its reader.
            let _ = link.send(std::mem::take(&mut message));
            bytes = 0;
        }
        bytes += size;
        message.grants.push(grant);
    }
    let _ = link.send(message);
}

#[cfg(test)]
mod tests;
