//! The loop: commands, commits and time in; the scheduler's decisions out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use assay_api::operations::IncidentKind;
use assay_clock::now;
use assay_core::id::{BatchId, LeaseId, TenantId, WorkerId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_fleet::{Failures, Fleet};
use assay_sched::{Config, Event, HeldStages, Sched};
use assay_wire::proto;
use tokio::sync::{mpsc, oneshot};

use crate::admission::AdmissionControl;
use crate::command::{Command, Reply};
use crate::committed::CommittedView;
use crate::dedup::Dedup;
use crate::fair_semaphore::FairSemaphore;
use crate::handle::DispatchError;
use crate::incidents::{Notes, of_workers};
use crate::live_batches::LiveBatches;
use crate::planning::Planning;
use crate::publish::{Channels, Decided};
use crate::quota::TenantUse;
use crate::request_metrics::RequestMetrics;
use crate::silence::SilenceWatch;
use crate::single::SingleRequests;
use crate::tenants::Tenants;
use crate::workers::{Joining, LeaseClaim, Worker, WorkerLink, Workers};

/// The number of commands that one turn handles before it sends the grants that follow.
const TURN_COMMANDS_MAX: usize = 256;
/// The pause between two looks whether held stages may start again: memory becomes free by commits too.
pub(super) const HELD_LOOK: Micros = Micros::from_ms(100);
/// A turn with fewer commands yields once, so that more may join it.
const TURN_COMMANDS_FEW: usize = 8;

/// The parts of the dispatcher, each of which owns its state, and the channels between them.
pub(super) struct Shell {
    pub sched: Sched,
    pub admission: AdmissionControl,
    pub batches: LiveBatches,
    pub single: SingleRequests,
    pub dedup: Dedup,
    pub workers: Workers,
    pub tenants: Arc<Tenants>,
    pub fleet: Fleet,
    failures: Failures,
    pub planning: Planning,
    pub committed: Arc<CommittedView>,
    pub channels: Channels,
    pub notes: Notes,
    pub metrics: RequestMetrics,
    pub wake: Option<Micros>,
    /// The tenants of whom stages are held, as the memory for their artifacts is scarce.
    pub held: BTreeMap<TenantId, StageHold>,
    /// The bytes of log lines that are not durable yet.
    pub logs: FairSemaphore,
    silence: SilenceWatch,
    stopping: bool,
}

/// The held stages of a tenant.
pub(super) struct StageHold {
    pub stages: HeldStages,
    /// The time before which they are not released.
    pub until: Micros,
}

/// The parts of the shell that are made before it.
pub(super) struct ShellParts {
    pub fleet: Fleet,
    pub failures: Failures,
    pub planning: Planning,
    pub tenants: Arc<Tenants>,
    pub notes: Notes,
    pub artifact_bytes_max: usize,
}

/// The first lease of this process. It is larger than every lease of an earlier process, because it
/// is the time of the start.
fn leases_after(now: Micros) -> LeaseId {
    LeaseId(now.0)
}

impl Shell {
    pub(super) fn new(
        config: Config,
        parts: ShellParts,
        channels: Channels,
        committed: Arc<CommittedView>,
    ) -> Self {
        let config = Config { leases_after: leases_after(now()), ..config };
        Self {
            sched: Sched::new(config),
            admission: AdmissionControl::new(Arc::clone(&parts.tenants)),
            batches: LiveBatches::new(parts.artifact_bytes_max),
            single: SingleRequests::default(),
            dedup: Dedup::default(),
            workers: Workers::default(),
            tenants: parts.tenants,
            fleet: parts.fleet,
            failures: parts.failures,
            planning: parts.planning,
            channels,
            committed,
            notes: parts.notes,
            metrics: RequestMetrics::default(),
            wake: None,
            held: BTreeMap::new(),
            logs: FairSemaphore::new(limits::LOG_UNCOMMITTED_BYTES_MAX),
            silence: SilenceWatch::default(),
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
            let held = (!self.held.is_empty()).then(|| now() + HELD_LOOK);
            let wake = [self.wake, self.single.due(), held].into_iter().flatten().min();
            let wait = wake.map(|at| Duration::from(at.since(now())));
            tokio::select! {
                biased;
                decided = self.channels.decided.recv() => match decided {
                    None => return,
                    Some(Decided::Committed(group)) => {
                        group.into_iter().for_each(|pending| self.admitted(pending));
                    }
                    Some(Decided::Refused(pending)) => self.not_admitted(*pending),
                },
                // Few, and before the commands, of which there may be some at all times.
                Some(ticket) = self.failures.recv() => {
                    if let Some(pool) = self.fleet.start_failed(ticket) {
                        self.note_failed_start(&pool);
                        self.step(Event::StartFailed { pool });
                    }
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
                () = assay_clock::sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {}
            }
        }
    }

    /// Handles what is due; called in every turn, so that commands cannot delay deadlines.
    fn do_what_is_due(&mut self) {
        let now = now();
        self.write_overdue(now);
        self.release_stages(now);
        self.admission.drop_old_keys(now);
        if self.silence.is_due(now) {
            let silent = self.silence.look(now, self.batches.waiting());
            silent.into_iter().for_each(|incident| self.notes.note(incident));
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
        for ticket in self.workers.send_outboxes() {
            self.fleet.stop(ticket);
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Restore(found) => self.restore_found(*found),
            Command::Announce(announcement, content, reply) => {
                self.announce(*announcement, content, reply);
            }
            Command::Submit { tenant, batch, items, reply } => {
                self.submit(tenant, batch, items, reply);
            }
            Command::TellOutstanding { tenant, batch, outstanding, reply } => {
                self.tell_outstanding(tenant, batch, outstanding, reply);
            }
            Command::Seal { tenant, batch, final_count, reply } => {
                self.seal(tenant, batch, final_count, reply);
            }
            Command::Cancel { tenant, batch, reply } => self.cancel(tenant, batch, reply),
            Command::WorkerJoined { joining, link, reply } => {
                // If it is not expected any more, the dropped reply makes the link refuse the worker.
                if self.fleet.joined(joining.ticket) {
                    self.worker_joined(joining, link, reply);
                }
            }
            Command::WorkerLost { worker } => self.worker_lost(worker),
            Command::Finished { worker, finished } => {
                if let Some(new) = self.workers.get(worker).filter(|it| it.stages_done == 0) {
                    self.fleet.proven(new.ticket);
                }
                finished.into_iter().for_each(|finished| self.stage_finished(worker, finished));
            }
            Command::PluginLoads { worker, loads } => {
                for proto::Load { lease, ended } in loads {
                    let lease = LeaseId(lease);
                    self.step(match ended {
                        false => Event::PluginLoading { worker, lease },
                        true => Event::PluginLoaded { worker, lease },
                    });
                }
            }
            Command::StartedBeforeRevoked { worker, leases } => {
                for lease in leases.into_iter().map(LeaseId) {
                    if self.workers.started_before_revoked(worker, lease) {
                        self.step(Event::StartedBeforeRevoked { worker, lease });
                    }
                }
            }
            Command::Planned(planned) => {
                let now = now();
                for forecast in planned.forecasts() {
                    if let Some(batch) = self.batches.get_mut(forecast.batch) {
                        batch.expect(now, *forecast);
                    }
                }
                let event = self.planning.take(planned);
                self.step(event);
                if self.planning.is_called() {
                    self.plan_anew(now);
                }
            }
            Command::SetBounds { pool, bounds, reply } => {
                self.planning.set_bounds(&pool, bounds);
                self.step(Event::PlanOutdated);
                answer(reply, Ok(()));
            }
            Command::View { reply } => drop(reply.send(self.sched.view())),
            Command::Capacity { reply } => {
                drop(reply.send(self.capacity(&self.sched.pool_views(), now())));
            }
            Command::Observe { reply } => drop(reply.send(self.observe())),
            Command::Drain { worker, reply } => answer(reply, self.drain(worker)),
            Command::ExpectEnd { ticket, reply } => {
                self.workers.expect_end(ticket);
                answer(reply, Ok(()));
            }
            Command::ReadStorage { claim, reply } => drop(reply.send(self.read_storage(claim))),
            Command::TenantChanged { tenant, reply } => {
                self.tell_entitlement(tenant);
                self.dedup.forget(tenant);
                answer(reply, Ok(()));
            }
            Command::TenantUse { tenant, reply } => drop(reply.send(self.tenant_use(tenant))),
            Command::Preload(plugin) => self.workers.preload_promoted(plugin),
            Command::Note(incident) => self.notes.note(*incident),
            Command::Stop => self.stopping = true,
        }
    }

    fn cancel(&mut self, tenant: TenantId, batch: BatchId, reply: Reply<()>) {
        match self.batches.find(tenant, batch).map(|_| ()) {
            Ok(()) => {
                self.step(Event::BatchCancelled { batch });
                answer(reply, Ok(()));
            }
            Err(DispatchError::NotRestored) => self.batches.cancel_missing(batch, reply),
            Err(error) => answer(reply, Err(error)),
        }
    }

    /// Notes that the lease's request reads storage, and names the tenant whose storage it is.
    fn read_storage(&mut self, claim: LeaseClaim) -> Option<TenantId> {
        self.batches.read_storage(self.workers.request_of(claim)?)
    }

    /// Reports the tenant's weight and worker limits to the scheduler.
    fn tell_entitlement(&mut self, tenant: TenantId) {
        let entitlement = self.tenants.entitlement(tenant);
        self.step(Event::EntitlementChanged { tenant, entitlement });
    }

    /// Reports those of all tenants; call it before anything is admitted or restored.
    pub(super) fn tell_entitlements(&mut self) {
        for tenant in self.tenants.ids() {
            self.tell_entitlement(tenant);
        }
    }

    fn tenant_use(&mut self, tenant: TenantId) -> TenantUse {
        let mut workers = BTreeMap::new();
        for (_, worker) in self.workers.iter() {
            let pool = worker.leases.values().find_map(|held| {
                let committed = &self.batches.get(held.request.batch)?.committed;
                let shape = committed.plugin.shapes.get(held.stage)?;
                (committed.row.tenant == tenant).then_some(&shape.pool)
            });
            if let Some(pool) = pool {
                *workers.entry(pool.to_string()).or_default() += 1;
            }
        }
        TenantUse { workers, ..self.admission.used(tenant, now()) }
    }

    fn worker_joined(
        &mut self,
        joining: Joining,
        link: WorkerLink,
        reply: oneshot::Sender<WorkerId>,
    ) {
        let (pool, leases_max) = (Arc::clone(&joining.pool), joining.leases_max);
        let (came, architecture) = (joining.came, joining.architecture);
        let pid = self.fleet.pid(joining.ticket);
        let worker = self.workers.join(joining, pid, link, now());
        self.workers.preload(worker, &self.batches.plugins_of(&pool, architecture));
        // The receiver is gone only if the link is stopping, and all workers with it.
        let _ = reply.send(worker);
        self.step(if came {
            Event::WorkerCame { worker, pool, leases_max }
        } else {
            Event::WorkerJoined { worker, pool, leases_max }
        });
    }

    fn worker_lost(&mut self, worker: WorkerId) {
        if let Some(gone) = self.workers.remove(worker) {
            // The connection has ended; its process may not have, so it is stopped. One that came may be here again
            // already, by another connection.
            if !gone.came {
                self.fleet.lost(gone.ticket);
            }
            // When the server stops, workers end one after the other. A request that moved from
            // each to the next would end as lost; a restart runs it again instead.
            if !self.fleet.is_stopping() {
                self.note_death(worker, &gone);
                self.step(Event::WorkerLost { worker });
            }
        }
    }

    /// The scheduler grants it nothing more; it is asked to end when it holds no lease.
    fn drain(&mut self, worker: WorkerId) -> Result<(), DispatchError> {
        self.workers.drain(worker)?;
        self.step(Event::WorkerDraining { worker });
        Ok(())
    }

    fn note_failed_start(&self, pool: &Arc<str>) {
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
        let detail = format!("{} ended unasked while it held {leases} leases", gone.named(id));
        self.notes.note(of_workers(now(), IncidentKind::WorkerDied, &gone.pool, detail));
    }
}

pub(super) fn answer<T>(reply: Reply<T>, answer: Result<T, DispatchError>) {
    // The caller may have gone.
    let _ = reply.send(answer);
}
