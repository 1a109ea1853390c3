//! Incidents on their way from where they happen to the table and to those who look on.
//!
//! Whoever notes one never waits. One task writes them; what comes too often is folded into one
//! row, so that a worker which dies a thousand times is a row a minute ([`Ledger`]). What comes while
//! the database is away waits in a bounded queue, and is dropped beyond it: an incident is told, never
//! relied upon.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use assay_model::id::{BatchId, TenantId};
use assay_model::limits;
use assay_model::operations::{Incident, IncidentKind};
use assay_model::time::Micros;
use tokio::sync::{broadcast, mpsc};

use super::tenants::Tenants;
use crate::store::operations::IncidentRow;
use crate::store::{Store, StoreError};

const MINUTE: u64 = 60_000_000;
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Written ones that a reader may be behind.
const TOLD_MAX: usize = 256;

/// Notes incidents; the writer ends when the last of these is gone.
#[derive(Clone)]
pub(super) struct Notes(mpsc::Sender<IncidentRow>);

/// A row of the table, as it was just written.
#[derive(Debug, Clone)]
pub struct Told {
    pub tenant: Option<TenantId>,
    pub incident: Incident,
}

impl Notes {
    pub(super) fn note(&self, incident: IncidentRow) {
        tracing::debug!(kind = incident.kind.as_str(), "an incident: {}", incident.detail);
        if self.0.try_send(incident).is_err() {
            tracing::warn!("an incident is not kept, as too many wait to be written");
        }
    }
}

/// What workers did, as an incident of the platform.
pub(super) fn of_workers(
    at: Micros,
    kind: IncidentKind,
    pool: &str,
    detail: String,
) -> IncidentRow {
    IncidentRow {
        at,
        tenant: None,
        kind,
        pool: Some(pool.to_owned()),
        batch: None,
        run: None,
        code: None,
        count: 1,
        detail,
    }
}

/// The notes, the writer's task to be, and where what was written is told.
pub(super) fn start(
    store: Store,
    tenants: Arc<Tenants>,
) -> (Notes, broadcast::Sender<Told>, impl Future<Output = ()> + Send + 'static) {
    let (notes, noted) = mpsc::channel(limits::INCIDENTS_PENDING_MAX);
    let told = broadcast::Sender::new(TOLD_MAX);
    let writer = Writer { store, tenants, told: told.clone(), ledger: Ledger::default() };
    (Notes(notes), told, writer.run(noted))
}

struct Writer {
    store: Store,
    tenants: Arc<Tenants>,
    told: broadcast::Sender<Told>,
    ledger: Ledger,
}

impl Writer {
    async fn run(mut self, mut noted: mpsc::Receiver<IncidentRow>) {
        let mut group = Vec::new();
        while noted.recv_many(&mut group, limits::INCIDENTS_PENDING_MAX).await > 0 {
            let mut folded: BTreeMap<i64, IncidentRow> = BTreeMap::new();
            for row in std::mem::take(&mut group) {
                match self.ledger.place(&row) {
                    Place::Row => self.insert(row).await,
                    Place::Further => self.insert(further(row)).await,
                    // What shares a row is one update.
                    Place::Into(id) => match folded.entry(id) {
                        std::collections::btree_map::Entry::Vacant(free) => {
                            free.insert(row);
                        }
                        std::collections::btree_map::Entry::Occupied(mut first) => {
                            first.get_mut().join(row);
                        }
                    },
                }
            }
            for (id, row) in folded {
                self.add(id, row).await;
            }
        }
    }

    async fn insert(&mut self, row: IncidentRow) {
        loop {
            match self.store.insert_incident(&row).await {
                Ok(id) => {
                    self.ledger.wrote(&row, id);
                    return self.tell(row.tenant, incident(id, &row));
                }
                Err(error) => {
                    if !may_pass(error).await {
                        return;
                    }
                }
            }
        }
    }

    async fn add(&self, id: i64, row: IncidentRow) {
        // A batch more where a row stands for several.
        let row = if row.tenant.is_some() { further(row) } else { row };
        loop {
            match self.store.add_to_incident(id, &row).await {
                Ok(count) => {
                    let row = IncidentRow { count, ..row };
                    return self.tell(row.tenant, incident(id, &row));
                }
                Err(error) => {
                    if !may_pass(error).await {
                        return;
                    }
                }
            }
        }
    }

    fn tell(&self, tenant: Option<TenantId>, mut incident: Incident) {
        incident.tenant = tenant.map(|tenant| self.tenants.name(tenant).to_string());
        // Nobody may be looking.
        let _ = self.told.send(Told { tenant, incident });
    }
}

/// Whether to try again, after a pause: the database is away.
async fn may_pass(error: StoreError) -> bool {
    let StoreError::Unavailable(error) = error else {
        tracing::error!(%error, "an incident cannot be written");
        return false;
    };
    tracing::warn!(%error, "an incident cannot be written yet");
    tokio::time::sleep(RETRY_PAUSE).await;
    true
}

fn incident(id: i64, row: &IncidentRow) -> Incident {
    Incident {
        id,
        at: row.at,
        tenant: None,
        kind: row.kind,
        pool: row.pool.clone(),
        batch: row.batch,
        run: row.run.clone(),
        code: row.code.map(|code| code.as_str().to_owned()),
        count: row.count,
        detail: row.detail.clone(),
    }
}

impl IncidentRow {
    fn join(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.at = self.at.max(other.at);
        self.detail = other.detail;
    }
}

/// One of many batches that share a row.
fn further(row: IncidentRow) -> IncidentRow {
    let what = match row.kind {
        IncidentKind::BatchLate => "ended late",
        _ => "had requests that failed",
    };
    let batch: Option<BatchId> = None;
    let detail = format!("more batches {what} within the minute than are listed one by one");
    IncidentRow { batch, run: None, code: None, count: 1, detail, ..row }
}

/// Where an incident goes.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Row,
    /// Into a row that stands for all that follow.
    Further,
    Into(i64),
}

/// What was written this minute.
#[derive(Default)]
struct Ledger {
    minute: u64,
    shares: HashMap<Share, Written>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Share {
    tenant: Option<TenantId>,
    kind: IncidentKind,
    pool: Option<String>,
}

#[derive(Default)]
struct Written {
    rows: u32,
    /// The row that takes what comes on top.
    last: Option<i64>,
}

impl Ledger {
    /// Of workers a pool has one row a minute, of batches a tenant some.
    fn place(&mut self, row: &IncidentRow) -> Place {
        let minute = row.at.0 / MINUTE;
        if minute > self.minute {
            self.minute = minute;
            self.shares.clear();
        }
        let most = Self::most(row);
        match self.shares.get(&Share::of(row)) {
            Some(written) if written.rows >= most => {
                written.last.map_or(Place::Further, Place::Into)
            }
            _ => Place::Row,
        }
    }

    fn most(row: &IncidentRow) -> u32 {
        if row.tenant.is_none() { 1 } else { limits::INCIDENTS_PER_MINUTE_MAX }
    }

    fn wrote(&mut self, row: &IncidentRow, id: i64) {
        let most = Self::most(row);
        let written = self.shares.entry(Share::of(row)).or_default();
        written.rows += 1;
        if row.tenant.is_none() || written.rows > most {
            written.last = Some(id);
        }
    }
}

impl Share {
    fn of(row: &IncidentRow) -> Self {
        Self { tenant: row.tenant, kind: row.kind, pool: row.pool.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(second: u64) -> IncidentRow {
        of_workers(Micros::from_secs(second), IncidentKind::WorkerDied, "cpu", "gone".into())
    }

    fn late(tenant: TenantId) -> IncidentRow {
        IncidentRow {
            tenant: Some(tenant),
            kind: IncidentKind::BatchLate,
            pool: None,
            batch: Some(BatchId::generate()),
            ..died(600)
        }
    }

    #[test]
    fn workers_of_a_pool_have_a_row_a_minute() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.place(&died(60)), Place::Row);
        ledger.wrote(&died(60), 7);
        assert_eq!(ledger.place(&died(119)), Place::Into(7));
        let gpu = IncidentRow { pool: Some("gpu".into()), ..died(119) };
        assert_eq!(ledger.place(&gpu), Place::Row);
        assert_eq!(ledger.place(&died(120)), Place::Row);
        // A clock that went back changes nothing.
        ledger.wrote(&died(120), 8);
        assert_eq!(ledger.place(&died(100)), Place::Into(8));
    }

    #[test]
    fn batches_have_rows_of_their_own_until_there_are_too_many() {
        let (mut ledger, tenant) = (Ledger::default(), TenantId::generate());
        for at in 0..i64::from(limits::INCIDENTS_PER_MINUTE_MAX) {
            assert_eq!(ledger.place(&late(tenant)), Place::Row);
            ledger.wrote(&late(tenant), at);
        }
        assert_eq!(ledger.place(&late(tenant)), Place::Further);
        ledger.wrote(&late(tenant), 1_000);
        assert_eq!(ledger.place(&late(tenant)), Place::Into(1_000));
        assert_eq!(ledger.place(&late(TenantId::generate())), Place::Row);
    }
}
