//! The loop: commands, commits and time in; the scheduler's decisions out.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use assay_model::api::BatchState;
use assay_model::id::{BatchId, RequestId, TenantId, WorkerId};
use assay_model::limits;
use assay_model::time::Micros;
use assay_sched::{Config, Event, NewBatch, NewRequest, Order, Sched};
use tokio::sync::mpsc;

use super::batch::LiveBatch;
use super::board::Board;
use super::incidents::Notes;
use super::lone::Lone;
use super::planning::Planning;
use super::publish::{Channels, Pending, Waiter};
use super::quota::Buckets;
use super::sharing::{Content, Leading, Sharing};
use super::tenants::Tenants;
use super::workers::Worker;
use super::{
    Announcement, Command, DispatchError, HashedItem, Holding, ItemFate, Reply, leases_after, now,
    refusal,
};
use crate::fleet::{Failures, Fleet};
use crate::store::admissions::{Admission, Admitted, BatchMark, RequestRow};

/// Commands that are taken before the grants they led to are sent.
const TURN_COMMANDS_MAX: usize = 256;
/// A shorter turn waits for one round of the others.
const TURN_COMMANDS_FEW: usize = 8;

/// From a caller's last look for its idempotency key to its turn here.
const KEY_LOOK_MAX: Micros = Micros::from_secs(limits::ADMISSION_SECONDS_MAX);
/// Longer than that.
const KEY_KEPT: Micros = Micros::from_secs(2 * limits::ADMISSION_SECONDS_MAX);

pub(super) struct Shell {
    pub sched: Sched,
    pub batches: HashMap<BatchId, LiveBatch>,
    pub open_batches: HashMap<TenantId, usize>,
    pub tenants: Arc<Tenants>,
    pub buckets: Buckets,
    /// Of live batches, among them those whose row is not committed yet, and of those that ended a
    /// moment ago: whoever looked for the row before it was there must still meet its key here.
    idempotency_keys: HashSet<(TenantId, String)>,
    /// The latter, with when they may go.
    ended_keys: VecDeque<(Micros, (TenantId, String))>,
    pub workers: HashMap<WorkerId, Worker>,
    pub workers_seen: u64,
    pub fleet: Fleet,
    failures: Failures,
    pub planning: Planning,
    pub board: Arc<Board>,
    pub channels: Channels,
    pub lone: Lone,
    pub sharing: Sharing,
    pub notes: Notes,
    pub artifact_bytes: usize,
    pub wake: Option<Micros>,
    stopping: bool,
}

/// Who sees to the workers.
pub(super) struct Crew {
    pub fleet: Fleet,
    pub failures: Failures,
    pub planning: Planning,
    pub tenants: Arc<Tenants>,
    pub notes: Notes,
}

impl Shell {
    pub(super) fn new(order: Order, crew: Crew, channels: Channels, board: Arc<Board>) -> Self {
        let config = Config { order, leases_after: leases_after(now()), ..Config::default() };
        Self {
            sched: Sched::new(config),
            batches: HashMap::new(),
            open_batches: HashMap::new(),
            tenants: crew.tenants,
            buckets: Buckets::default(),
            idempotency_keys: HashSet::new(),
            ended_keys: VecDeque::new(),
            workers: HashMap::new(),
            workers_seen: 0,
            fleet: crew.fleet,
            failures: crew.failures,
            planning: crew.planning,
            channels,
            board,
            lone: Lone::default(),
            sharing: Sharing::default(),
            notes: crew.notes,
            artifact_bytes: 0,
            wake: None,
            stopping: false,
        }
    }

    /// Runs until it is told to stop.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut turn = Vec::with_capacity(TURN_COMMANDS_MAX);
        // No pool has a worker before the first plan.
        self.step(Event::PlanOutdated);
        loop {
            self.do_what_is_due();
            self.send_outboxes();
            let wake = [self.wake, self.lone.due()].into_iter().flatten().min();
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
                        // Whoever is ready to ask, too, shares the messages that this turn leads to.
                        tokio::task::yield_now().await;
                        turn.extend(std::iter::from_fn(|| commands.try_recv().ok()).take(TURN_COMMANDS_MAX));
                    }
                    turn.drain(..).for_each(|command| self.obey(command));
                    if self.stopping {
                        return;
                    }
                }
                Some(member) = self.failures.recv() => {
                    if let Some(pool) = self.fleet.start_failed(member) {
                        self.note_failed_start(&pool);
                        self.step(Event::StartFailed { pool });
                    }
                }
                () = tokio::time::sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {}
            }
        }
    }

    /// At every turn, so that a stream of commands does not hold up deadlines.
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
        self.settle_shared();
    }

    fn send_outboxes(&mut self) {
        for worker in self.workers.values_mut() {
            if worker.draining && worker.leases.is_empty() && !worker.dismissed {
                worker.dismissed = true;
                self.fleet.stop(worker.member);
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
                // The scheduler may have given up its start; unanswered, the link refuses it.
                if self.fleet.joined(joining.member) {
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
            Command::TenantOf { holding, reply } => drop(reply.send(self.tenant_of(holding))),
            Command::TenantChanged { tenant, reply } => {
                self.share(tenant);
                self.sharing.forget(tenant);
                answer(reply, Ok(()));
            }
            Command::TenantUse { tenant, reply } => drop(reply.send(self.tenant_use(tenant))),
            Command::Stop => self.stopping = true,
        }
    }

    fn tenant_of(&self, holding: Holding) -> Option<TenantId> {
        let worker = self.workers.values().find(|worker| worker.pid == holding.pid)?;
        let (request, _) = worker.leases.get(&holding.lease)?;
        Some(self.batches.get(&request.batch)?.published.row.tenant)
    }

    fn find(&mut self, tenant: TenantId, id: BatchId) -> Result<&mut LiveBatch, DispatchError> {
        let found = self.batches.get_mut(&id);
        found.filter(|batch| batch.published.row.tenant == tenant).ok_or(DispatchError::NotLive)
    }

    fn announce(
        &mut self,
        announcement: Announcement,
        content: Option<Content>,
        reply: Reply<Arc<super::Published>>,
    ) {
        let Announcement { row, plugin, lone, replays } = announcement;
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
        if let Some(item) = lone {
            let announcement = Announcement { row, plugin, lone: None, replays };
            let published = self.announce_lone(announcement, HashedItem { item, content });
            return answer(reply, Ok(published));
        }
        let (tenant, id, at) = (row.tenant, row.id, row.announced_at);
        let published = self.board.put(row.clone(), plugin, false);
        self.batches.insert(id, LiveBatch::new(published));
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
        let expected = batch.published.row.expected_size;
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
        // The scheduler passes over what it has not heard of: that comes with its due.
        for (request, due) in taken.dues {
            self.step(Event::RequestDue { request, due });
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

    /// An admission is durable: the scheduler hears of it, then the caller.
    fn admitted(&mut self, pending: Pending) {
        let Pending { admitted, waiter } = pending;
        let id = admitted.batch;
        let Admission { batch: row, requests, mark } = admitted.admission;
        if matches!(waiter, Waiter::Lone) {
            return self.lone_written(id, admitted.at);
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
                let published = self.board.find(id).ok_or(DispatchError::NotLive);
                answer(reply, published);
            }
            Waiter::Submitted { fates, reply } => answer(reply, Ok(fates)),
            Waiter::Sealed { reply } => answer(reply, Ok(())),
            Waiter::Lone => {}
        }
    }

    pub(super) fn batch_announced(&mut self, id: BatchId) {
        let Some(batch) = self.batches.get(&id) else { return };
        let (row, plugin) = (&batch.published.row, &batch.published.plugin);
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
            let progress = self.progress_of(request, Leading::May);
            let entry = self.batches.get(&id)?.entry(row.seq)?;
            let (group, due) = (entry.group, entry.due);
            Some(NewRequest { seq: row.seq, group, arrived: at, due, progress })
        });
        let requests: Vec<NewRequest> = requests.collect();
        let Some(batch) = self.batches.get(&id) else { return };
        let count = u32::try_from(rows.len()).expect("a submit is within its limit");
        batch.published.change(|standing| {
            if standing.state == BatchState::Announced {
                standing.state = BatchState::Open;
            }
            standing.first_request_at.get_or_insert(at);
            standing.counts.submitted += count;
        });
        self.submitted(id, requests);
    }

    pub(super) fn batch_sealed(&mut self, id: BatchId, at: Micros) {
        let Some(batch) = self.batches.get(&id) else { return };
        batch.published.change(|standing| {
            if !standing.state.is_final() {
                standing.state = BatchState::Sealed;
            }
            standing.sealed_at.get_or_insert(at);
        });
        self.step(Event::BatchSealed { batch: id });
    }

    /// A batch has ended: nothing of it is kept here.
    pub(super) fn forget(&mut self, id: BatchId) {
        let Some(batch) = self.batches.remove(&id) else { return };
        let row = &batch.published.row;
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
    // Whoever asked may have gone.
    let _ = reply.send(answer);
}
