//! The seam between the fleet and what runs workers.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use assay_core::id::TicketId;
use assay_core::limits;

use crate::ticket::{ProofRefusal, Ticket};

const START_MAX: Duration = Duration::from_secs(limits::WORKER_START_SECONDS_MAX);

/// An engine that runs workers. It does what it is told, repeats nothing, and never decides. Its calls return
/// at once; what becomes of a worker is a [`WorkerEvent`].
pub trait Launcher: Send + Sync + 'static {
    /// The name in interfaces: `process`.
    fn name(&self) -> &'static str;

    /// Starts a worker for each entry. Each is answered by one [`WorkerEvent::Ended`], sooner or later.
    fn start(&self, starts: Vec<Start>);

    /// Ends a worker, however far it has come. Does nothing if there is none with this ticket; a stronger
    /// call may follow a weaker one.
    fn stop(&self, ticket: TicketId, how: Stop);

    /// Lists the fleet's workers that exist: at least those that were placed before the call and have not
    /// ended since.
    fn reconcile(&self) -> Reconciling<'_>;

    /// Lists the workers of a server before this one, with their pools, that may come again.
    fn find(&self) -> Finding<'_> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The time from its place in which a worker of the pool must join.
    fn start_max(&self, _pool: &str) -> Duration {
        START_MAX
    }

    /// Whether its workers join by TLS, because they are on other machines.
    fn joins_by_tls(&self) -> bool {
        false
    }

    /// Says whose proof this is, which a worker presents in the place of its ticket's text.
    fn identify<'a>(&'a self, _proof: &'a str) -> Identifying<'a> {
        let refused = ProofRefusal::Refused("workers of this pool join by their tickets".into());
        Box::pin(std::future::ready(Err(refused)))
    }
}

/// The answer to [`Launcher::reconcile`].
pub type Reconciling<'a> = Pin<Box<dyn Future<Output = anyhow::Result<Vec<TicketId>>> + Send + 'a>>;

/// The answer to [`Launcher::find`].
pub type Finding<'a> =
    Pin<Box<dyn Future<Output = anyhow::Result<Vec<(TicketId, Arc<str>)>>> + Send + 'a>>;

/// The answer to [`Launcher::identify`].
pub type Identifying<'a> =
    Pin<Box<dyn Future<Output = Result<TicketId, ProofRefusal>> + Send + 'a>>;

/// The data that a launcher needs to start one worker.
#[derive(Debug, Clone)]
pub struct Start {
    pub ticket: Ticket,
    pub pool: Arc<str>,
}

/// The ways to end a worker, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Asks it to end, and kills it if it does not end in time. It holds no lease.
    Leave,
    /// Ends a worker that has not joined.
    GiveUp,
    /// Kills it at once.
    Kill,
}

/// An event of a worker, as its launcher reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEvent {
    /// It has no place yet, for this reason.
    Waiting { ticket: TicketId, why: String },
    /// It has a place and is starting there. From now on it must join in time. `pid` is its process on this
    /// machine, if it has one.
    Placed { ticket: TicketId, pid: Option<u32> },
    /// It runs or waits and will be ended, by somebody else than the fleet, for this reason.
    Leaving { ticket: TicketId, why: String },
    /// There is no worker with this ticket any more, or never was one.
    Ended { ticket: TicketId, how: WorkerEnd },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEnd {
    /// It could not be started, for this reason.
    NotStarted(String),
    /// It ended as asked, or without an error.
    Finished(String),
    /// It ended by itself.
    Failed(String),
    /// The launcher has it no more and does not know why.
    Lost,
}

impl WorkerEnd {
    /// The reason, in words.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::NotStarted(reason) | Self::Finished(reason) | Self::Failed(reason) => reason,
            Self::Lost => "its launcher no longer lists it",
        }
    }
}

/// The receiver of a launcher's events; cheap to clone.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(WorkerEvent) + Send + Sync>);

impl Events {
    pub fn new(receiver: impl Fn(WorkerEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(receiver))
    }

    /// Takes effect before it returns. Must be called on the fleet's runtime.
    pub fn send(&self, event: WorkerEvent) {
        (self.0)(event);
    }
}
