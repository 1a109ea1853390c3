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
use assay_wire::proto;
use bytes::Bytes;
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
        let Joining { ticket, pool, architecture, leases_max: _, heard, came } = joining;
        self.joined += 1;
        let id = WorkerId(self.joined);
        let worker = Worker {
            link,
            ticket,
            pid,
            came,
            leases: HashMap::new(),
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
        if worker.revoked.len() > limits::PREFETCH_LEASES_MAX {
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
            let outbox = &mut worker.outbox;
            if *outbox != proto::ToWorker::default() {
                // A closed link is reported by its reader.
                let _ = worker.link.send(std::mem::take(outbox));
            }
        }
        drained
    }
}

#[cfg(test)]
mod tests {
    use assay_core::id::BatchId;
    use assay_sched::StageShape;

    use super::*;
    use crate::plugin::tests::description;

    fn ticket(number: u128) -> TicketId {
        TicketId(uuid::Uuid::from_u128(number))
    }

    fn joining() -> Joining {
        let heard = LastContact::default();
        let (pool, architecture) = ("cpu".into(), Architecture::X86_64);
        Joining { ticket: ticket(7), pool, architecture, leases_max: 4, heard, came: false }
    }

    fn request(seq: u32) -> RequestId {
        RequestId { batch: BatchId(uuid::Uuid::nil()), seq }
    }

    fn held(seq: u32) -> HeldLease {
        HeldLease { request: request(seq), stage: 1, granted: Micros(5), revoked: false }
    }

    fn grant(lease: u64) -> proto::Grant {
        proto::Grant { lease, ..proto::Grant::default() }
    }

    fn workers() -> (Workers, WorkerId, mpsc::UnboundedReceiver<proto::ToWorker>) {
        let (link, sent) = mpsc::unbounded_channel();
        let mut workers = Workers::default();
        let id = workers.join(joining(), None, link, Micros(1));
        (workers, id, sent)
    }

    #[test]
    fn a_turn_is_one_message_and_a_lease_revoked_within_it_is_not_sent() {
        let (mut workers, id, mut sent) = workers();
        workers.grant(id, held(0), grant(1));
        workers.grant(id, held(1), grant(2));
        workers.revoke(id, LeaseId(1));
        assert_eq!(workers.send_outboxes(), []);
        let message = sent.try_recv().expect("a message");
        let grants: Vec<u64> = message.grants.iter().map(|grant| grant.lease).collect();
        assert_eq!((grants, message.revoked), (vec![2], vec![]));
        workers.send_outboxes();
        assert!(sent.try_recv().is_err(), "an empty message");
    }

    #[test]
    fn a_lease_that_was_started_before_it_was_revoked_is_held_again() {
        let (mut workers, id, mut sent) = workers();
        (1..=3).for_each(|lease| workers.grant(id, held(lease as u32), grant(lease)));
        workers.send_outboxes();
        assert_eq!(workers.revoke(id, LeaseId(2)), Some(held(2)));
        assert_eq!(workers.revoke(id, LeaseId(3)), Some(held(3)));
        workers.grant(id, held(4), grant(4));
        workers.send_outboxes();
        let revoked =
            std::iter::from_fn(|| sent.try_recv().ok()).flat_map(|message| message.revoked);
        assert_eq!(revoked.collect::<Vec<_>>(), [2, 3]);
        assert_eq!(workers.finished(id, LeaseId(1)), Some(held(1)));
        assert!(workers.started_before_revoked(id, LeaseId(2)));
        assert!(!workers.started_before_revoked(id, LeaseId(2)));
        assert_eq!(workers.finished(id, LeaseId(2)), Some(HeldLease { revoked: true, ..held(2) }));
        assert_eq!(workers.finished(id, LeaseId(4)), Some(held(4)));
        assert!(!workers.started_before_revoked(id, LeaseId(3)), "it answered a later one");
    }

    #[test]
    fn an_answer_counts_once_and_only_for_a_lease_that_is_held() {
        let (mut workers, id, _sent) = workers();
        workers.grant(id, held(3), grant(5));
        let claim = |number, lease| LeaseClaim { ticket: ticket(number), lease: LeaseId(lease) };
        assert_eq!(workers.request_of(claim(7, 5)), Some(request(3)));
        assert_eq!(workers.request_of(claim(8, 5)), None);
        assert_eq!(workers.finished(id, LeaseId(4)), None);
        assert_eq!(workers.finished(id, LeaseId(5)), Some(held(3)));
        assert_eq!(workers.finished(id, LeaseId(5)), None);
        assert_eq!(workers.request_of(claim(7, 5)), None);
        assert_eq!(workers.remove(id).map(|worker| worker.stages_done), Some(1));
        assert_eq!(workers.finished(id, LeaseId(5)), None);
    }

    #[test]
    fn a_worker_is_told_once_which_plugin_to_load() {
        let (mut workers, id, mut sent) = workers();
        let digests: Vec<Digest> = (0..=8).map(|number| Digest([number; 32])).collect();
        workers.preload(id, &digests[..2]);
        workers.preload(id, &digests[..1]);
        workers.send_outboxes();
        assert_eq!(sent.try_recv().expect("a message").preload.len(), 2);
        workers.preload(id, &digests[..2]);
        workers.send_outboxes();
        assert!(sent.try_recv().is_err(), "it knows both");
        workers.preload(id, &digests[2..]);
        workers.preload(id, &digests[..1]);
        workers.send_outboxes();
        assert_eq!(sent.try_recv().expect("a message").preload.len(), 8, "the first one again");
    }

    #[test]
    fn a_worker_that_joins_loads_what_channels_were_pointed_to_last() {
        let plugin = |pool: &str, number| {
            let shape = StageShape { pool: pool.into(), timeout: Micros(1), retries_max: 0 };
            let digest = Digest([number; 32]);
            let new = ReadyPlugin::new(
                digest,
                [(Architecture::X86_64, digest)].into(),
                description(),
                Vec::new(),
            );
            Arc::new(ReadyPlugin { shapes: [shape].into(), ..new })
        };
        let (mut workers, _, _first) = workers();
        workers.preload_promoted(plugin("elsewhere", 90));
        for number in (0..=9).chain([5]) {
            workers.preload_promoted(plugin("cpu", number));
        }
        let (link, mut sent) = mpsc::unbounded_channel();
        let late = workers.join(joining(), None, link, Micros(2));
        workers.preload(late, &[Digest([70; 32])]);
        workers.send_outboxes();
        let told: Vec<u8> = sent.try_recv().expect("it").preload.iter().map(|it| it[0]).collect();
        assert_eq!(told, [70, 5, 9, 8, 7, 6, 4, 3], "those of batches first, then the newest");
    }

    #[test]
    fn each_worker_loads_what_was_compiled_for_its_architecture() {
        let shape = StageShape { pool: "cpu".into(), timeout: Micros(1), retries_max: 0 };
        let (x86_64, aarch64) = (Architecture::X86_64, Architecture::Aarch64);
        let compiled = [(x86_64, Digest([1; 32])), (aarch64, Digest([2; 32]))].into();
        let plugin = ReadyPlugin::new(Digest([0; 32]), compiled, description(), Vec::new());
        let plugin = Arc::new(ReadyPlugin { shapes: [shape].into(), ..plugin });
        let mut workers = Workers::default();
        let join = |workers: &mut Workers, architecture| {
            let (link, sent) = mpsc::unbounded_channel();
            let id = workers.join(Joining { architecture, ..joining() }, None, link, Micros(1));
            (id, sent)
        };
        let (_, mut intel) = join(&mut workers, x86_64);
        let (_, mut arm) = join(&mut workers, aarch64);
        workers.preload_promoted(plugin);
        let (late, mut late_sent) = join(&mut workers, aarch64);
        workers.preload(late, &[]);
        workers.send_outboxes();
        for (sent, digest) in [(&mut intel, 1), (&mut arm, 2), (&mut late_sent, 2)] {
            assert_eq!(sent.try_recv().expect("a message").preload, [vec![digest; 32]]);
        }
    }

    #[test]
    fn a_draining_worker_is_stopped_once_it_holds_nothing() {
        let (mut workers, id, _sent) = workers();
        workers.grant(id, held(0), grant(1));
        assert_eq!(workers.drain(id), Ok(()));
        assert_eq!(workers.send_outboxes(), []);
        workers.finished(id, LeaseId(1));
        assert_eq!(workers.send_outboxes().len(), 1);
        assert_eq!(workers.send_outboxes(), []);
        assert_eq!(workers.drain(WorkerId(9)), Err(DispatchError::NoWorker));
    }
}
