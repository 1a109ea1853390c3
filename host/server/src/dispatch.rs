//! The one loop that owns the scheduler, and the handle through which everybody talks to it.
//!
//! Commands come in, the pure core decides, `perform` carries it out. Nothing here waits for
//! Postgres or a worker: what is to be written goes to the two group commits, and comes back
//! when it is durable. Only then is it acknowledged (admissions) or shown (the board).

mod batch;
pub mod board;
mod capacity;
pub mod history;
mod incidents;
mod lone;
mod observe;
mod perform;
pub mod planning;
mod publish;
mod quota;
mod remembered;
mod restore;
pub mod room;
mod share;
mod sharing;
mod shell;
pub mod tally;
pub mod tenants;
mod workers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use assay_model::api::BatchState;
use assay_model::capacity::Capacity;
use assay_model::id::{BatchId, Digest, LeaseId, RequestId, TenantId, WorkerId};
use assay_model::outbound::SENDS_REQUESTS;
use assay_model::plugin::Description;
use assay_model::tenant::Tenant;
use assay_model::time::Micros;
use assay_sched::StageShape;
pub use assay_sched::{Mode, Order, PlanConfig, Profile, Snapshot};
use assay_wire::proto;
use bytes::Bytes;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::fleet::{Failures, Fleet, Member};
use crate::store::Store;
use crate::store::admissions::BatchRow;
use board::{Board, Published};
pub use incidents::Told;
pub use observe::Observed;
use planning::{Bounds, Planned, Planning, PoolDefaults};
use room::{Place, Room};
use sharing::Content;
use tenants::Tenants;

const COMMANDS_MAX: usize = 4_096;

/// A plugin version that is ready to run.
#[derive(Debug)]
pub struct PluginInfo {
    pub digest: Digest,
    /// Of its compiled form for the workers' engine.
    pub compiled: Digest,
    pub description: Description,
    /// What it asks for.
    pub imports: Vec<String>,
    pub shapes: Arc<[StageShape]>,
}

impl PluginInfo {
    #[must_use]
    pub fn new(
        digest: Digest,
        compiled: Digest,
        description: Description,
        imports: Vec<String>,
    ) -> Self {
        let shapes = description.stages.iter().map(|stage| StageShape {
            pool: stage.pool.as_str().into(),
            timeout: Micros::from_ms(stage.timeout_ms.into()),
            retries_max: stage.retries_max,
        });
        Self { digest, compiled, shapes: shapes.collect(), description, imports }
    }

    /// Whether it asks for hosts that it may send requests to.
    #[must_use]
    pub fn sends_requests(&self) -> bool {
        self.imports.iter().any(|import| import.starts_with(SENDS_REQUESTS))
    }
}

/// A batch to be: its row and the plugin that its run pinned.
pub struct Announcement {
    pub row: BatchRow,
    pub plugin: Arc<PluginInfo>,
    /// The one request of a batch that is made for it alone.
    pub lone: Option<NewItem>,
    /// Of a lone request that is another's replay: this one, whose seed it gets.
    pub replays: Option<RequestId>,
}

/// A valid item on its way in.
pub struct NewItem {
    pub key: String,
    pub group: Option<String>,
    /// A serialised `assay.worker.v1.Body`.
    pub body: Bytes,
    pub place: Place,
    /// When whoever waits for this very request gives up. A repeat's replaces the one before.
    pub due: Option<Micros>,
}

/// An item, and what it is equal by.
struct HashedItem {
    item: NewItem,
    content: Option<Content>,
}

/// What became of one item.
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
    #[error("the server is stopping")]
    Stopping,
}

type Reply<T> = oneshot::Sender<Result<T, DispatchError>>;

enum Command {
    Announce(Box<Announcement>, Option<Content>, Reply<Arc<Published>>),
    Submit { tenant: TenantId, batch: BatchId, items: Vec<HashedItem>, reply: Reply<Vec<ItemFate>> },
    Seal { tenant: TenantId, batch: BatchId, final_count: Option<u32>, reply: Reply<()> },
    Cancel { tenant: TenantId, batch: BatchId, reply: Reply<()> },
    WorkerJoined { joining: Joining, link: WorkerLink, reply: oneshot::Sender<WorkerId> },
    WorkerLost { worker: WorkerId },
    Finished { worker: WorkerId, finished: Vec<proto::Finished> },
    Planned(Planned),
    SetBounds { pool: Arc<str>, bounds: Bounds, reply: Reply<()> },
    Snapshot { reply: oneshot::Sender<Snapshot> },
    Capacity { reply: oneshot::Sender<Capacity> },
    Observe { reply: oneshot::Sender<Observed> },
    Drain { worker: WorkerId, reply: Reply<()> },
    TenantOf { holding: Holding, reply: oneshot::Sender<Option<TenantId>> },
    TenantChanged { tenant: TenantId, reply: Reply<()> },
    TenantUse { tenant: TenantId, reply: oneshot::Sender<TenantUse> },
    Stop,
}

/// A worker that has dialled in.
#[derive(Debug, Clone)]
pub struct Joining {
    pub member: Member,
    pub pid: u32,
    pub pool: Arc<str>,
    pub in_hand_max: usize,
    pub heard: Heard,
}

/// When a worker last said something; written by its link.
#[derive(Debug, Clone, Default)]
pub struct Heard(Arc<AtomicU64>);

impl Heard {
    pub fn now(&self) {
        self.0.store(now().0, Ordering::Relaxed);
    }

    fn at(&self) -> Micros {
        Micros(self.0.load(Ordering::Relaxed))
    }
}

/// What a tenant uses right now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TenantUse {
    pub open_batches: u64,
    /// What its bucket lacks.
    pub requests: u64,
    /// By pool: workers with something of it in hand.
    pub workers: BTreeMap<String, u64>,
}

/// A worker that says it holds a lease.
#[derive(Debug, Clone, Copy)]
pub struct Holding {
    pub pid: u32,
    pub lease: LeaseId,
}

/// Where a worker's grants go; bounded by the leases in its hand.
pub type WorkerLink = mpsc::UnboundedSender<proto::ToWorker>;

/// What the loop is built from.
pub struct Parts {
    pub store: Store,
    pub fleet: Fleet,
    /// Starts of workers that came to nothing.
    pub failures: Failures,
    pub plan: PlanConfig,
    pub pool_defaults: PoolDefaults,
    pub tenants: Arc<Tenants>,
    /// What completed batches left to learn from, the oldest first.
    pub history: Vec<Arc<Profile>>,
}

/// Talks to the loop; cheap to clone.
#[derive(Clone)]
pub struct Dispatch {
    commands: mpsc::Sender<Command>,
    pub board: Arc<Board>,
    pub room: Room,
    pub tenants: Arc<Tenants>,
    last_look: Arc<observe::LastLook>,
    told: broadcast::Sender<Told>,
}

impl Dispatch {
    /// Restores what is live and starts the loop and its group commits. The tasks end after
    /// [`Dispatch::stop`], once all that was under way is written.
    pub async fn start(
        parts: Parts,
        plugins: impl AsyncFn(&BatchRow) -> anyhow::Result<Arc<PluginInfo>>,
    ) -> anyhow::Result<(Self, JoinSet<()>)> {
        let (commands, receiver) = mpsc::channel(COMMANDS_MAX);
        let board = Arc::new(Board::default());
        let room = Room::default();
        let Parts { store, fleet, failures, plan, pool_defaults, tenants, history } = parts;
        let order = plan.order;
        let (notes, told, writer) = incidents::start(store.clone(), tenants.clone());
        let (channels, mut tasks) = publish::start(&store, board.clone(), &notes);
        tasks.spawn(writer);
        let (planning, planner_ended) =
            Planning::start(plan, pool_defaults, history.clone(), commands.clone())
                .context("starting the planner")?;
        tasks.spawn(async {
            // A thread that is gone has ended, too.
            let _ = planner_ended.await;
        });
        let crew = shell::Crew { fleet, failures, planning, tenants: tenants.clone(), notes };
        let mut shell = shell::Shell::new(order, crew, channels, board.clone());
        history::learn(&mut shell.sched, &history);
        shell.share_all();
        let restored = restore::restore(&mut shell, &store, &room, plugins).await?;
        if restored.batches > 0 {
            tracing::info!(
                batches = restored.batches,
                waiting = restored.waiting,
                finished = restored.finished,
                "live batches are restored"
            );
        }
        tasks.spawn(shell.run(receiver));
        let last_look = Arc::default();
        Ok((Self { commands, board, room, tenants, last_look, told }, tasks))
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<oneshot::Receiver<Result<T, DispatchError>>, DispatchError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| DispatchError::Stopping)?;
        Ok(answer)
    }

    /// Returns once the batch is committed; with a lone request as soon as that is under way.
    pub async fn announce(
        &self,
        announcement: Announcement,
    ) -> Result<Arc<Published>, DispatchError> {
        let Announcement { row, plugin, lone, replays } = &announcement;
        // A replay is asked for to see what comes of it.
        let shared = lone.as_ref().filter(|_| replays.is_none());
        let content = shared.and_then(|item| Content::of(row, plugin, &item.body));
        let announcement = Box::new(announcement);
        let answer = self.ask(|reply| Command::Announce(announcement, content, reply)).await?;
        answer.await.unwrap_or(Err(DispatchError::Stopping))
    }

    /// Returns as soon as the items are in line; the receiver answers once they are committed.
    pub async fn submit(
        &self,
        tenant: TenantId,
        batch: BatchId,
        items: Vec<NewItem>,
    ) -> Result<oneshot::Receiver<Result<Vec<ItemFate>, DispatchError>>, DispatchError> {
        let known = self.board.get(tenant, batch);
        // Here, as the loop has no time for it.
        let hashed = items.into_iter().map(|item| {
            let known = known.as_ref();
            let content =
                known.and_then(|known| Content::of(&known.row, &known.plugin, &item.body));
            HashedItem { item, content }
        });
        let items = hashed.collect();
        self.ask(|reply| Command::Submit { tenant, batch, items, reply }).await
    }

    /// Returns once the seal is committed.
    pub async fn seal(
        &self,
        tenant: TenantId,
        batch: BatchId,
        final_count: Option<u32>,
    ) -> Result<(), DispatchError> {
        let answer = self.ask(|reply| Command::Seal { tenant, batch, final_count, reply }).await?;
        answer.await.unwrap_or(Err(DispatchError::Stopping))
    }

    /// Returns once the batch is told to end; it has ended when the board says so.
    pub async fn cancel(&self, tenant: TenantId, batch: BatchId) -> Result<(), DispatchError> {
        let answer = self.ask(|reply| Command::Cancel { tenant, batch, reply }).await?;
        answer.await.unwrap_or(Err(DispatchError::Stopping))
    }

    /// Fails also for a worker that was given up before it joined.
    pub async fn worker_joined(
        &self,
        joining: Joining,
        link: WorkerLink,
    ) -> Result<WorkerId, DispatchError> {
        let (reply, answer) = oneshot::channel();
        let command = Command::WorkerJoined { joining, link, reply };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)?;
        answer.await.map_err(|_| DispatchError::Stopping)
    }

    pub async fn worker_lost(&self, worker: WorkerId) {
        // A loop that is gone has no workers to lose.
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

    /// Ends the loop; whoever asks later is told that the server is stopping.
    pub async fn stop(&self) {
        // A loop that has ended is as good.
        let _ = self.commands.send(Command::Stop).await;
    }

    /// From the next plan on, which is called for at once.
    pub async fn set_bounds(&self, pool: &str, bounds: Bounds) -> Result<(), DispatchError> {
        let pool = pool.into();
        let answer = self.ask(|reply| Command::SetBounds { pool, bounds, reply }).await?;
        answer.await.unwrap_or(Err(DispatchError::Stopping))
    }

    pub async fn capacity(&self) -> Result<Capacity, DispatchError> {
        let (reply, answer) = oneshot::channel();
        let command = Command::Capacity { reply };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)?;
        answer.await.map_err(|_| DispatchError::Stopping)
    }

    /// Whose request the lease is for; `None` unless this worker holds it right now.
    pub async fn tenant_of(&self, holding: Holding) -> Result<Option<TenantId>, DispatchError> {
        let (reply, answer) = oneshot::channel();
        let command = Command::TenantOf { holding, reply };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)?;
        answer.await.map_err(|_| DispatchError::Stopping)
    }

    pub async fn tenant_use(&self, tenant: TenantId) -> Result<TenantUse, DispatchError> {
        let (reply, answer) = oneshot::channel();
        let command = Command::TenantUse { tenant, reply };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)?;
        answer.await.map_err(|_| DispatchError::Stopping)
    }

    /// What was stored of a tenant holds from now on.
    pub async fn set_tenant(&self, stored: Tenant) -> Result<(), DispatchError> {
        let tenant = stored.id;
        self.tenants.set(stored);
        let answer = self.ask(|reply| Command::TenantChanged { tenant, reply }).await?;
        answer.await.unwrap_or(Err(DispatchError::Stopping))
    }

    /// Incidents, as soon as they are written.
    #[must_use]
    pub fn incidents(&self) -> broadcast::Receiver<Told> {
        self.told.subscribe()
    }

    /// It finishes what it has in hand and ends.
    pub async fn drain(&self, worker: WorkerId) -> Result<(), DispatchError> {
        let answer = self.ask(|reply| Command::Drain { worker, reply }).await?;
        answer.await.unwrap_or(Err(DispatchError::Stopping))
    }

    pub async fn snapshot(&self) -> Result<Snapshot, DispatchError> {
        let (reply, answer) = oneshot::channel();
        let command = Command::Snapshot { reply };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)?;
        answer.await.map_err(|_| DispatchError::Stopping)
    }
}

/// Why a batch takes no more requests.
fn refusal(state: BatchState) -> Option<DispatchError> {
    match state {
        BatchState::Announced | BatchState::Open => None,
        BatchState::Sealed => Some(DispatchError::Sealed),
        BatchState::Done | BatchState::Cancelled | BatchState::Expired => {
            Some(DispatchError::Ended)
        }
    }
}

/// The first lease of this process: larger than any of an earlier one, as the clock has moved on.
fn leases_after(now: Micros) -> LeaseId {
    LeaseId(now.0)
}

/// The host's clock.
#[must_use]
pub fn now() -> Micros {
    Micros::from_datetime(time::OffsetDateTime::now_utc())
}
