//! The loop: commands, commits and time in; the scheduler's decisions out.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use assay_api::batch::BatchState;
use assay_core::id::{BatchId, LeaseId, RequestId, TenantId, WorkerId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_sched::{Config, Discipline, Event, NewBatch, NewRequest, Sched};
use tokio::sync::mpsc;

use crate::batch::LiveBatch;
use crate::batch::refusal;
use crate::clock::now;
use crate::command::{Command, HashedItem, Reply};
use crate::committed::{CommittedBatch, CommittedView};
use crate::dedup::{ContentHash, Dedup, Eligibility};
use crate::handle::{Announcement, DispatchError, ItemFate};
use crate::incidents::Notes;
use crate::planning::Planning;
use crate::publish::{Channels, Pending, Waiter};
use crate::quota::Buckets;
use crate::single::SingleRequests;
use crate::tenants::Tenants;
use crate::workers::LeaseClaim;
use crate::workers::Worker;
use assay_fleet::{Failures, Fleet};
use assay_store::admissions::{Admission, Admitted, BatchMark, RequestRow};

/// The number of commands that one turn handles before it sends the grants that follow.
const TURN_COMMANDS_MAX: usize = 256;
/// A turn with fewer commands yields once, so that more may join it.
const TURN_COMMANDS_FEW: usize = 8;

/// The time from a caller's last look-up of its idempotency key in the database to its turn here.
const KEY_LOOK_MAX: Micros = Micros::from_secs(limits::ADMISSION_SECONDS_MAX);
/// The time for which the key of an ended batch is kept; longer than [`KEY_LOOK_MAX`].
const KEY_KEPT: Micros = Micros::from_secs(2 * limits::ADMISSION_SECONDS_MAX);

pub(super) struct Shell {
    pub sched: Sched,
    pub batches: HashMap<BatchId, LiveBatch>,
    pub open_batches: HashMap<TenantId, usize>,
    pub tenants: Arc<Tenants>,
    pub buckets: Buckets,
    /// Keys of live batches, committed or not, and of batches that ended recently. A caller that
    /// looked for the row before it was committed must find its key here.
    idempotency_keys: HashSet<(TenantId, String)>,
    /// The keys of ended batches, with the time at which each is dropped.
    ended_keys: VecDeque<(Micros, (TenantId, String))>,
    pub workers: HashMap<WorkerId, Worker>,
    pub workers_seen: u64,
    pub fleet: Fleet,
    failures: Failures,
    pub planning: Planning,
    pub committed: Arc<CommittedView>,
    pub channels: Channels,
    pub single: SingleRequests,
    pub dedup: Dedup,
    pub notes: Notes,
    pub artifact_bytes: usize,
    pub wake: Option<Micros>,
    stopping: bool,
}

/// The parts of the shell that are made before it.
pub(super) struct ShellParts {
    pub fleet: Fleet,
    pub failures: Failures,
    pub planning: Planning,
    pub tenants: Arc<Tenants>,
    pub notes: Notes,
}

/// The first lease of this process. It is larger than every lease of an earlier process, because it
/// is the time of the start.
fn leases_after(now: Micros) -> LeaseId {
    LeaseId(now.0)
}

impl Shell {
    pub(super) fn new(
        discipline: Discipline,
        parts: ShellParts,
        channels: Channels,
        committed: Arc<CommittedView>,
    ) -> Self {
        let config = Config { discipline, leases_after: leases_after(now()), ..Config::default() };
        Self {
            sched: Sched::new(config),
            batches: HashMap::new(),
            open_batches: HashMap::new(),
            tenants: parts.tenants,
            buckets: Buckets::default(),
            idempotency_keys: HashSet::new(),
            ended_keys: VecDeque::new(),
            workers: HashMap::new(),
            workers_seen: 0,
            fleet: parts.fleet,
            failures: parts.failures,
            planning: parts.planning,
            channels,
            committed,
            single: SingleRequests::default(),
            dedup: Dedup::default(),
            notes: parts.notes,
            artifact_bytes: 0,
            wake: None,
            stopping: false,
        }
    }

    /// Runs until [`Command::Stop`].
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut turn = Vec::with_capacity(TURN_COMMANDS_MAX);
        // No pool has a worker before the first plan, so one is asked for now.
        self.step(Event::PlanOutdated);
        loop {
            self.do_what_is_due();
            self.send_outboxes();
            let wake = [self.wake, self.single.due()].into_iter().flatten().min();
            let wait = wake.map(|at| Duration::from_micros(at.since(now()).0));
            tokio::select! {
                biased;
                committed = self.channels.committed.recv() => {
                    let Some(committed) = committed else { return };
                    committed.into_iter().for_each(|pending| self.admitted(pending));
                }
                count = commands.recv_many(&mut turn, TURN_COMMANDS_MAX) => {
                    if count == 0 {
                        return;
                    }
                    if count < TURN_COMMANDS_FEW {
                        // Commands that are ready now share the messages of this turn.
                        tokio::task::yield_now().await;
                        turn.extend(std::iter::from_fn(|| commands.try_recv().ok()).take(TURN_COMMANDS_MAX));
                    }
                    turn.drain(..).for_each(|command| self.obey(command));
                    if self.stopping {
                        return;
                    }
                }
                Some(ticket) = self.failures.recv() => {
                    if let Some(pool) = self.fleet.start_failed(ticket) {
                        self.note_failed_start(&pool);
                        self.step(Event::StartFailed { pool });
                    }
                }
                () = tokio::time::sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {}
            }
        }
    }

    /// Handles what is due; called in every turn, so that commands cannot delay deadlines.
    fn do_what_is_due(&mut self) {
        let now = now();
        self.write_overdue(now);
        while let Some((_, key)) = self.ended_keys.pop_front_if(|(at, _)| *at <= now) {
            self.idempotency_keys.remove(&key);
        }
        if self.wake.is_some_and(|at| at <= now) {
            self.wake = None;
            self.step(Event::Tick);
        }
    }

    pub(super) fn step(&mut self, event: Event) {
        let now = now();
        for action in self.sched.step(now, event) {
            self.perform(now, action, &mut None);
        }
        self.resolve_dedup();
    }

    fn send_outboxes(&mut self) {
        for worker in self.workers.values_mut() {
            if worker.draining && worker.leases.is_empty() && !worker.dismissed {
                worker.dismissed = true;
                self.fleet.stop(worker.ticket);
            }
            let outbox = &mut worker.outbox;
            if !outbox.grants.is_empty() || !outbox.revoked.is_empty() {
                // A closed link is reported by its reader.
                let _ = worker.link.send(std::mem::take(outbox));
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Announce(announcement, content, reply) => {
                self.announce(*announcement, content, reply);
            }
            Command::Submit { tenant, batch, items, reply } => {
                self.submit(tenant, batch, items, reply);
            }
            Command::Seal { tenant, batch, final_count, reply } => {
                self.seal(tenant, batch, final_count, reply);
            }
            Command::Cancel { tenant, batch, reply } => {
                let live = self.find(tenant, batch).map(|_| ());
                if live.is_ok() {
                    self.step(Event::BatchCancelled { batch });
                }
                answer(reply, live);
            }
            Command::WorkerJoined { joining, link, reply } => {
                // If it is not expected any more, the dropped reply makes the link refuse the worker.
                if self.fleet.joined(joining.ticket) {
                    self.worker_joined(joining, link, reply);
                }
            }
            Command::WorkerLost { worker } => self.worker_lost(worker),
            Command::Finished { worker, finished } => {
                finished.into_iter().for_each(|finished| self.stage_finished(worker, finished));
            }
            Command::Planned(planned) => {
                let event = self.planning.take(planned);
                self.step(event);
            }
            Command::SetBounds { pool, bounds, reply } => {
                self.planning.set_bounds(&pool, bounds);
                self.step(Event::PlanOutdated);
                answer(reply, Ok(()));
            }
            Command::Snapshot { reply } => drop(reply.send(self.sched.snapshot())),
            Command::Capacity { reply } => drop(reply.send(self.capacity(now()))),
            Command::Observe { reply } => drop(reply.send(self.observe())),
            Command::Drain { worker, reply } => answer(reply, self.drain(worker)),
            Command::TenantOf { claim, reply } => drop(reply.send(self.tenant_of(claim))),
            Command::TenantChanged { tenant, reply } => {
                self.tell_entitlement(tenant);
                self.dedup.forget(tenant);
                answer(reply, Ok(()));
            }
            Command::TenantUse { tenant, reply } => drop(reply.send(self.tenant_use(tenant))),
            Command::Stop => self.stopping = true,
        }
    }

    fn tenant_of(&self, claim: LeaseClaim) -> Option<TenantId> {
        let worker = self.workers.values().find(|worker| worker.ticket == claim.ticket)?;
        let (request, _) = worker.leases.get(&claim.lease)?;
        Some(self.batches.get(&request.batch)?.committed.row.tenant)
    }

    fn find(&mut self, tenant: TenantId, id: BatchId) -> Result<&mut LiveBatch, DispatchError> {
        let found = self.batches.get_mut(&id);
        found.filter(|batch| batch.committed.row.tenant == tenant).ok_or(DispatchError::NotLive)
    }

    fn announce(
        &mut self,
        announcement: Announcement,
        content: Option<ContentHash>,
        reply: Reply<Arc<CommittedBatch>>,
    ) {
        let Announcement { row, plugin, single, replays } = announcement;
        if let Err(refused) = self.check_quotas(row.tenant) {
            return answer(reply, Err(refused));
        }
        if let Some(idempotency) = &row.idempotency {
            let looked_long_ago = now().since(row.announced_at) > KEY_LOOK_MAX;
            let key = (row.tenant, idempotency.key.clone());
            if looked_long_ago || !self.idempotency_keys.insert(key) {
                return answer(reply, Err(DispatchError::KeyInUse));
            }
        }
        self.batch_opened(row.tenant);
        if let Some(rate) = self.rate(row.tenant) {
            self.buckets.take(rate, row.expected_size.unwrap_or(0));
        }
        if let Some(item) = single {
            let announcement = Announcement { row, plugin, single: None, replays };
            let committed = self.announce_single(announcement, HashedItem { item, content });
            return answer(reply, Ok(committed));
        }
        let (tenant, id, at) = (row.tenant, row.id, row.announced_at);
        let committed = self.committed.put(row.clone(), plugin, false);
        self.batches.insert(id, LiveBatch::new(committed));
        let admission = Admission { batch: Some(row), ..Admission::default() };
        let admitted = Admitted { tenant, batch: id, at, admission };
        self.write(Pending { admitted, waiter: Waiter::Announced { reply } });
    }

    fn submit(
        &mut self,
        tenant: TenantId,
        id: BatchId,
        items: Vec<HashedItem>,
        reply: Reply<Vec<ItemFate>>,
    ) {
        let at = now();
        let batch = match self.find(tenant, id) {
            Ok(batch) => batch,
            Err(error) => return answer(reply, Err(error)),
        };
        let taken = match batch.take(items) {
            Ok(taken) => taken,
            Err(error) => return answer(reply, Err(error)),
        };
        let mut mark = BatchMark::default();
        if batch.state == BatchState::Announced && !taken.rows.is_empty() {
            batch.state = BatchState::Open;
            mark.first_request_at = Some(at);
        }
        let unpaid = batch.pay();
        let expected = batch.committed.row.expected_size;
        if refusal(batch.state).is_none() && expected.is_some_and(|size| batch.size() >= size) {
            batch.state = BatchState::Sealed;
            mark.sealed_at = Some(at);
        }
        let admission = Admission { batch: None, requests: taken.rows, mark };
        let admitted = Admitted { tenant, batch: id, at, admission };
        let waiter = Waiter::Submitted { fates: taken.fates, reply };
        self.write(Pending { admitted, waiter });
        if let Some(rate) = self.rate(tenant).filter(|_| unpaid > 0) {
            self.buckets.take(rate, unpaid);
        }
        // The scheduler ignores requests that it does not know yet; they arrive with a deadline.
        for (request, deadline) in taken.dues {
            self.step(Event::RequestDeadline { request, deadline });
        }
    }

    fn seal(&mut self, tenant: TenantId, id: BatchId, final_count: Option<u32>, reply: Reply<()>) {
        let at = now();
        let batch = match self.find(tenant, id) {
            Ok(batch) => batch,
            Err(error) => return answer(reply, Err(error)),
        };
        let have = batch.size();
        if let Some(want) = final_count.filter(|&want| want != have) {
            return answer(reply, Err(DispatchError::CountDiffers { have, want }));
        }
        let mut mark = BatchMark::default();
        // Sealing again is harmless.
        if refusal(batch.state).is_none() {
            batch.state = BatchState::Sealed;
            mark.sealed_at = Some(at);
        }
        let admission = Admission { batch: None, requests: Vec::new(), mark };
        let admitted = Admitted { tenant, batch: id, at, admission };
        self.write(Pending { admitted, waiter: Waiter::Sealed { reply } });
    }

    pub(super) fn write(&mut self, pending: Pending) {
        if let Err(pending) = self.channels.admissions.send(pending) {
            pending.0.waiter.refuse(DispatchError::Stopping);
        }
    }

    /// An admission is durable: it is reported to the scheduler, then to the caller.
    fn admitted(&mut self, pending: Pending) {
        let Pending { admitted, waiter } = pending;
        let id = admitted.batch;
        let Admission { batch: row, requests, mark } = admitted.admission;
        if matches!(waiter, Waiter::Single) {
            return self.single_written(id, admitted.at);
        }
        if row.is_some() {
            self.batch_announced(id);
        }
        if !requests.is_empty() {
            self.requests_submitted(id, &requests, admitted.at);
        }
        if let Some(at) = mark.sealed_at {
            self.batch_sealed(id, at);
        }
        match waiter {
            Waiter::Announced { reply } => {
                let committed = self.committed.find(id).ok_or(DispatchError::NotLive);
                answer(reply, committed);
            }
            Waiter::Submitted { fates, reply } => answer(reply, Ok(fates)),
            Waiter::Sealed { reply } => answer(reply, Ok(())),
            Waiter::Single => {}
        }
    }

    pub(super) fn batch_announced(&mut self, id: BatchId) {
        let Some(batch) = self.batches.get(&id) else { return };
        let (row, plugin) = (&batch.committed.row, &batch.committed.plugin);
        let new = NewBatch {
            id,
            tenant: row.tenant,
            run: row.run.as_str().into(),
            plugin: row.digest,
            stages: plugin.shapes.clone(),
            expected_size: row.expected_size,
            group_size: row.group_size,
            tolerance: row.max_extra_delay_ms.map(|ms| Micros::from_ms(ms.into())),
            announced: row.announced_at,
        };
        self.step(Event::BatchAnnounced(new));
    }

    fn requests_submitted(&mut self, id: BatchId, rows: &[RequestRow], at: Micros) {
        let requests = rows.iter().filter_map(|row| {
            let request = RequestId { batch: id, seq: row.seq };
            let progress = self.progress_of(request, Eligibility::Primary);
            let entry = self.batches.get(&id)?.entry(row.seq)?;
            let (group, due) = (entry.group, entry.due);
            Some(NewRequest { seq: row.seq, group, arrived: at, deadline: due, progress })
        });
        let requests: Vec<NewRequest> = requests.collect();
        let Some(batch) = self.batches.get(&id) else { return };
        let count = u32::try_from(rows.len()).expect("a submit is within its limit");
        batch.committed.change(|progress| {
            if progress.state == BatchState::Announced {
                progress.state = BatchState::Open;
            }
            progress.first_request_at.get_or_insert(at);
            progress.counts.submitted += count;
        });
        self.submitted(id, requests);
    }

    pub(super) fn batch_sealed(&mut self, id: BatchId, at: Micros) {
        let Some(batch) = self.batches.get(&id) else { return };
        batch.committed.change(|progress| {
            if !progress.state.is_final() {
                progress.state = BatchState::Sealed;
            }
            progress.sealed_at.get_or_insert(at);
        });
        self.step(Event::BatchSealed { batch: id });
    }

    /// Drops an ended batch and returns what it held of its tenant's quotas.
    pub(super) fn forget(&mut self, id: BatchId) {
        let Some(batch) = self.batches.remove(&id) else { return };
        let row = &batch.committed.row;
        self.batch_closed(row.tenant);
        if let Some(rate) = self.rate(row.tenant) {
            self.buckets.give_back(rate, batch.overpaid());
        }
        if let Some(idempotency) = &row.idempotency {
            let key = (row.tenant, idempotency.key.clone());
            self.ended_keys.push_back((now() + KEY_KEPT, key));
        }
    }

    pub(super) fn batch_opened(&mut self, tenant: TenantId) {
        *self.open_batches.entry(tenant).or_default() += 1;
    }

    fn batch_closed(&mut self, tenant: TenantId) {
        if let Some(open) = self.open_batches.get_mut(&tenant) {
            *open -= 1;
            if *open == 0 {
                self.open_batches.remove(&tenant);
            }
        }
    }
}

fn answer<T>(reply: Reply<T>, answer: Result<T, DispatchError>) {
    // The caller may have gone.
    let _ = reply.send(answer);
}
