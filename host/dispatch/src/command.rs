//! The commands that the handle sends to the loop; they are private to this crate.

use std::sync::Arc;

use assay_api::capacity::Capacity;
use assay_core::id::{BatchId, TenantId, TicketId, WorkerId};
use assay_sched::SchedView;
use assay_store::operations::IncidentRow;
use assay_wire::proto;
use tokio::sync::oneshot;

use crate::committed::CommittedBatch;
use crate::dedup::ContentHash;
use crate::handle::{Announcement, DispatchError, ItemFate, NewItem};
use crate::observe::Observed;
use crate::planning::{Bounds, PlanResult};
use crate::plugin::ReadyPlugin;
use crate::quota::TenantUse;
use crate::restore::FoundBatch;
use crate::workers::{Joining, LeaseClaim, WorkerLink};

pub(crate) type Reply<T> = oneshot::Sender<Result<T, DispatchError>>;

pub(crate) enum Command {
    Restore(Box<FoundBatch>),
    Announce(Box<Announcement>, Option<ContentHash>, Reply<Arc<CommittedBatch>>),
    Submit { tenant: TenantId, batch: BatchId, items: Vec<HashedItem>, reply: Reply<Vec<ItemFate>> },
    TellOutstanding { tenant: TenantId, batch: BatchId, outstanding: u32, reply: Reply<()> },
    Seal { tenant: TenantId, batch: BatchId, final_count: Option<u32>, reply: Reply<()> },
    Cancel { tenant: TenantId, batch: BatchId, reply: Reply<()> },
    WorkerJoined { joining: Joining, link: WorkerLink, reply: oneshot::Sender<WorkerId> },
    WorkerLost { worker: WorkerId },
    Finished { worker: WorkerId, finished: Vec<proto::Finished> },
    PluginLoads { worker: WorkerId, loads: Vec<proto::Load> },
    StartedBeforeRevoked { worker: WorkerId, leases: Vec<u64> },
    Planned(PlanResult),
    SetBounds { pool: Arc<str>, bounds: Bounds, reply: Reply<()> },
    View { reply: oneshot::Sender<SchedView> },
    Capacity { reply: oneshot::Sender<Capacity> },
    Observe { reply: oneshot::Sender<Observed> },
    Drain { worker: WorkerId, reply: Reply<()> },
    ExpectEnd { ticket: TicketId, reply: Reply<()> },
    ReadStorage { claim: LeaseClaim, reply: oneshot::Sender<Option<TenantId>> },
    TenantChanged { tenant: TenantId, reply: Reply<()> },
    TenantUse { tenant: TenantId, reply: oneshot::Sender<TenantUse> },
    Preload(Arc<ReadyPlugin>),
    Note(Box<IncidentRow>),
    Stop,
}

/// An item and the hash by which equal requests find it.
pub(crate) struct HashedItem {
    pub item: NewItem,
    pub content: Option<ContentHash>,
}
