//! The handle through which everybody talks to the loop: one method for each command.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use assay_api::capacity::Capacity;
use assay_api::tenant::Tenant;
use assay_core::id::{BatchId, RequestId, TenantId, TicketId, WorkerId};
use assay_core::time::Micros;
use assay_core::trace::{RequestTrace, TraceContext};
use assay_fleet::{Failures, Fleet};
use assay_planner::PlanConfig;
use assay_sched::{Config, Profile, SchedView};
use assay_store::DispatchStore;
use assay_store::admissions::BatchRow;
use assay_store::operations::IncidentRow;
use assay_wire::proto;
use bytes::Bytes;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::budget::{AdmissionBudget, BudgetPermit};
use crate::command::{Command, HashedItem, Reply};
use crate::committed::{CommittedBatch, CommittedView};
use crate::dedup::ContentHash;
use crate::incidents::{self, WrittenIncident};
use crate::planning::{Bounds, PlannerPlace, Planning, PoolDefaults};
use crate::plugin::{Plugins, ReadyPlugin};
use crate::quota::TenantUse;
use crate::tenants::Tenants;
use crate::traces::TraceSender;
use crate::workers::{Joining, LeaseClaim, WorkerLink};
use crate::{history, observe, publish, restore, shell};

const COMMANDS_MAX: usize = 4_096;

/// A batch that is announced: its row and the plugin that its run pinned.
pub struct Announcement {
    pub row: BatchRow,
    pub plugin: Arc<ReadyPlugin>,
    /// The request, if the batch is made for a single request.
    pub single: Option<NewItem>,
    /// The request that a single request replays, if any; the replay gets its seed.
    pub replays: Option<RequestId>,
}

/// A valid item on its way in.
pub struct NewItem {
    pub key: String,
    pub group: Option<String>,
    /// A serialised `assay.worker.v1.Body`.
    pub body: Bytes,
    pub permit: BudgetPermit,
    /// The deadline of the client that waits for this request. A repeated item replaces it.
    pub due: Option<Micros>,
    /// The time that it is expected to take, as the trainer says.
    pub expected_ms: Option<u32>,
    /// Its place in a trace that is recorded.
    pub trace: Option<TraceContext>,
}

/// The result of submitting one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemFate {
    Accepted(RequestId),
    Repeated(RequestId),
    /// The batch is full.
    Refused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DispatchError {
    #[error("there is no such live batch")]
    NotLive,
    #[error("the batch waits for its plugin since the start of the server")]
    NotRestored,
    #[error("the batch is sealed")]
    Sealed,
    #[error("the batch has ended")]
    Ended,
    #[error("the batch has {have} requests, not {want}")]
    CountDiffers { have: u32, want: u32 },
    #[error("the quota open_batches_max is {max}, and {used} batches are open")]
    OpenBatches { max: u64, used: u64 },
    #[error("the quota requests_per_minute_max is {max}, and {used} are used")]
    RequestsPerMinute { max: u32, used: u64, seconds: u64 },
    #[error("another batch is live under this idempotency key")]
    KeyInUse,
    #[error("there is no such worker")]
    NoWorker,
    #[error("the database refused to keep the call, so nothing of it was taken")]
    NotKept,
    #[error("the server is stopping")]
    Stopping,
}

/// The parts from which the loop is built.
pub struct Parts<S> {
    pub store: S,
    pub fleet: Fleet,
    /// Starts of workers that failed.
    pub failures: Failures,
    pub plan: PlanConfig,
    pub planner: PlannerPlace,
    /// The time after which a tenant without a worker takes one from a tenant with several; `None`: never.
    pub preempt_after: Option<Duration>,
    /// The time for which a stage runs before it may run a second time, on an idle worker; `None`: never.
    pub hedge_after: Option<Duration>,
    pub pool_defaults: PoolDefaults,
    pub tenants: Arc<Tenants>,
    /// The bytes of memory for artifacts that wait for their next stage.
    pub artifact_bytes_max: usize,
    /// The profiles of completed batches, the oldest first.
    pub history: Vec<Arc<Profile>>,
    /// Takes the traces of requests that have ended; without it none is sent.
    pub traces: Option<mpsc::Sender<RequestTrace>>,
}

/// The handle of the loop; cheap to clone.
#[derive(Clone)]
pub struct Dispatch {
    commands: mpsc::Sender<Command>,
    pub committed: Arc<CommittedView>,
    pub budget: AdmissionBudget,
    pub tenants: Arc<Tenants>,
    pub(crate) last_look: Arc<observe::LastLook>,
    told: broadcast::Sender<WrittenIncident>,
}

impl Dispatch {
    /// Restores live batches and starts the loop and its group commits. The tasks end after
    /// [`Dispatch::stop`], once everything that was under way is written.
    pub async fn start<S: DispatchStore>(
        parts: Parts<S>,
        plugins: impl Plugins,
    ) -> anyhow::Result<(Self, JoinSet<()>)> {
        let (commands, receiver) = mpsc::channel(COMMANDS_MAX);
        let committed = Arc::new(CommittedView::default());
        let budget = AdmissionBudget::default();
        let Parts { store, fleet, failures, plan, planner: planner_place, .. } = parts;
        let Parts { preempt_after, hedge_after, pool_defaults, tenants, history, traces, .. } =
            parts;
        let artifact_bytes_max = parts.artifact_bytes_max;
        let [preempt_after, hedge_after] =
            [preempt_after, hedge_after].map(|after| after.map(Micros::from));
        let discipline = plan.discipline;
        let config = Config { discipline, preempt_after, hedge_after, ..Config::default() };
        let (notes, told, writer) = incidents::start(store.clone(), tenants.clone());
        let (channels, mut tasks) = publish::start(&store, &committed, &notes, TraceSender(traces));
        tasks.spawn(writer);
        let (planning, planner) = Planning::new(plan, pool_defaults, history.clone());
        let planner_ended =
            planner.start(planner_place, commands.clone()).context("starting the planner")?;
        tasks.spawn(async {
            // An error means that the thread has ended as well.
            let _ = planner_ended.await;
        });
        let parts = shell::ShellParts {
            fleet,
            failures,
            planning,
            tenants: tenants.clone(),
            notes,
            artifact_bytes_max,
        };
        let mut shell = shell::Shell::new(config, parts, channels, committed.clone());
        history::learn(&mut shell.sched, &history);
        shell.tell_entitlements();
        let restored = restore::restore(&mut shell, &store, &budget, &plugins).await?;
        if restored.batches > 0 {
            tracing::info!(
                batches = restored.batches,
                waiting = restored.waiting,
                finished = restored.finished,
                "live batches are restored"
            );
        }
        tasks.spawn(shell.run(receiver));
        let retry = restore::Retry::new(store, plugins, budget.clone());
        tasks.spawn(retry.run(restored.missing, commands.clone()));
        let last_look = Arc::default();
        Ok((Self { commands, committed, budget, tenants, last_look, told }, tasks))
    }

    /// Sends a command and returns the receiver of its answer.
    async fn send<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<oneshot::Receiver<Result<T, DispatchError>>, DispatchError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| DispatchError::Stopping)?;
        Ok(answer)
    }

    /// Sends a command and waits for its answer.
    async fn call<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, DispatchError> {
        self.send(command).await?.await.unwrap_or(Err(DispatchError::Stopping))
    }

    /// Sends a command that cannot be refused and waits for its answer.
    pub(crate) async fn query<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, DispatchError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| DispatchError::Stopping)?;
        answer.await.map_err(|_| DispatchError::Stopping)
    }

    /// Returns once the batch is committed; with a single request as soon as that is under way.
    pub async fn announce(
        &self,
        announcement: Announcement,
    ) -> Result<Arc<CommittedBatch>, DispatchError> {
        let Announcement { row, plugin, single, replays } = &announcement;
        // A replay must run: its purpose is to see the outcome again.
        let shared = single.as_ref().filter(|_| replays.is_none());
        let epoch = self.tenants.epoch(row.tenant);
        let content = shared.and_then(|item| ContentHash::of(row, plugin, epoch, &item.body));
        let announcement = Box::new(announcement);
        self.call(|reply| Command::Announce(announcement, content, reply)).await
    }

    /// Returns as soon as the items are queued; the receiver answers once they are committed.
    pub async fn submit(
        &self,
        tenant: TenantId,
        batch: BatchId,
        items: Vec<NewItem>,
    ) -> Result<oneshot::Receiver<Result<Vec<ItemFate>, DispatchError>>, DispatchError> {
        let known = self.committed.get(tenant, batch);
        let epoch = self.tenants.epoch(tenant);
        // Hashed here, not in the loop, which must not be held up.
        let hashed = items.into_iter().map(|item| {
            let known = known.as_ref();
            let content = known
                .and_then(|known| ContentHash::of(&known.row, &known.plugin, epoch, &item.body));
            HashedItem { item, content }
        });
        let items = hashed.collect();
        self.send(|reply| Command::Submit { tenant, batch, items, reply }).await
    }

    /// The trainer's word on how many rollouts still run. It is kept in memory alone: the next one takes its place.
    pub async fn tell_outstanding(
        &self,
        tenant: TenantId,
        batch: BatchId,
        outstanding: u32,
    ) -> Result<(), DispatchError> {
        self.call(|reply| Command::TellOutstanding { tenant, batch, outstanding, reply }).await
    }

    /// Returns once the seal is committed.
    pub async fn seal(
        &self,
        tenant: TenantId,
        batch: BatchId,
        final_count: Option<u32>,
    ) -> Result<(), DispatchError> {
        self.call(|reply| Command::Seal { tenant, batch, final_count, reply }).await
    }

    /// Returns once the cancellation is accepted; the batch has ended when the committed view says so. A batch that waits
    /// for its plugin is restored first.
    pub async fn cancel(&self, tenant: TenantId, batch: BatchId) -> Result<(), DispatchError> {
        self.call(|reply| Command::Cancel { tenant, batch, reply }).await
    }

    /// Also fails for a worker whose start was given up before it joined.
    pub async fn worker_joined(
        &self,
        joining: Joining,
        link: WorkerLink,
    ) -> Result<WorkerId, DispatchError> {
        self.query(|reply| Command::WorkerJoined { joining, link, reply }).await
    }

    pub async fn worker_lost(&self, worker: WorkerId) {
        // If the loop has ended, it has no workers left to lose.
        let _ = self.commands.send(Command::WorkerLost { worker }).await;
    }

    pub async fn finished(
        &self,
        worker: WorkerId,
        finished: Vec<proto::Finished>,
    ) -> Result<(), DispatchError> {
        let command = Command::Finished { worker, finished };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)
    }

    /// The worker's loads of the plugins of its leases have started or ended.
    pub async fn plugin_loads(
        &self,
        worker: WorkerId,
        loads: Vec<proto::Load>,
    ) -> Result<(), DispatchError> {
        let command = Command::PluginLoads { worker, loads };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)
    }

    /// Leases that a worker had started when they were revoked.
    pub async fn started_before_revoked(
        &self,
        worker: WorkerId,
        leases: Vec<u64>,
    ) -> Result<(), DispatchError> {
        let command = Command::StartedBeforeRevoked { worker, leases };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)
    }

    /// Ends the loop; later calls get [`DispatchError::Stopping`].
    pub async fn stop(&self) {
        // If the loop has already ended, there is nothing to stop.
        let _ = self.commands.send(Command::Stop).await;
    }

    /// Sets a pool's bounds and asks for a new plan at once.
    pub async fn set_bounds(&self, pool: &str, bounds: Bounds) -> Result<(), DispatchError> {
        let pool = pool.into();
        self.call(|reply| Command::SetBounds { pool, bounds, reply }).await
    }

    pub async fn capacity(&self) -> Result<Capacity, DispatchError> {
        self.query(|reply| Command::Capacity { reply }).await
    }

    /// The tenant whose storage the request of a lease is about to read, so that its outcome is not cached for equal
    /// requests; `None` unless this worker holds the lease now.
    pub async fn read_storage(&self, claim: LeaseClaim) -> Result<Option<TenantId>, DispatchError> {
        self.query(|reply| Command::ReadStorage { claim, reply }).await
    }

    pub async fn tenant_use(&self, tenant: TenantId) -> Result<TenantUse, DispatchError> {
        self.query(|reply| Command::TenantUse { tenant, reply }).await
    }

    /// Applies a tenant's stored settings from now on.
    pub async fn set_tenant(&self, stored: Tenant) -> Result<(), DispatchError> {
        let tenant = stored.id;
        self.tenants.set(stored);
        self.call(|reply| Command::TenantChanged { tenant, reply }).await
    }

    /// Says that a worker is about to be removed, so that its end is no incident.
    pub async fn expect_end(&self, ticket: TicketId) -> Result<(), DispatchError> {
        self.call(|reply| Command::ExpectEnd { ticket, reply }).await
    }

    /// Subscribes to incidents; each is sent as soon as it is written.
    #[must_use]
    pub fn incidents(&self) -> broadcast::Receiver<WrittenIncident> {
        self.told.subscribe()
    }

    /// Has the workers that may run a plugin load it before a request comes, such as a call of a trainer or a single
    /// request, which announce nothing. Does not wait; if the loop has too much to do, the first request loads it.
    pub fn preload(&self, plugin: Arc<ReadyPlugin>) {
        if self.commands.try_send(Command::Preload(plugin)).is_err() {
            tracing::debug!(
                "a promoted plugin is not loaded early: the dispatcher is busy or stopping"
            );
        }
    }

    /// Records an incident, without waiting; it is lost if the loop has too much to do.
    pub fn note(&self, incident: IncidentRow) {
        if self.commands.try_send(Command::Note(Box::new(incident))).is_err() {
            tracing::warn!("an incident is not recorded: the dispatcher is busy or stopping");
        }
    }

    /// The worker finishes its leases and ends.
    pub async fn drain(&self, worker: WorkerId) -> Result<(), DispatchError> {
        self.call(|reply| Command::Drain { worker, reply }).await
    }

    /// The scheduler's state as it is now.
    pub async fn view(&self) -> Result<SchedView, DispatchError> {
        self.query(|reply| Command::View { reply }).await
    }
}
