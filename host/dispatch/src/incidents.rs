//! Incidents, from their place of origin to the table and to subscribers.
//!
//! Recording an incident never waits. One task writes them. Frequent incidents are folded into one
//! row, so that a worker that dies a thousand times makes one row a minute ([`Ledger`]). While the
//! database is unavailable they wait in a bounded queue, and are dropped when it is full: nothing
//! relies on an incident.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use assay_api::operations::{Incident, IncidentKind};
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use tokio::sync::{broadcast, mpsc};

use crate::tenants::Tenants;
use assay_store::operations::IncidentRow;
use assay_store::{DispatchStore, StoreError};

/// The metric that counts incidents by kind.
pub const INCIDENTS: &str = "assay_incidents_total";

const MINUTE: u64 = 60_000_000;
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// The number of written incidents by which a slow subscriber may lag.
const TOLD_MAX: usize = 256;

/// Records incidents; the writer ends when the last clone is dropped.
#[derive(Clone)]
pub(super) struct Notes(mpsc::Sender<IncidentRow>);

/// An incident as it was just written to the table.
#[derive(Debug, Clone)]
pub struct WrittenIncident {
    pub tenant: Option<TenantId>,
    pub incident: Incident,
}

impl Notes {
    pub(super) fn note(&self, incident: IncidentRow) {
        tracing::debug!(kind = incident.kind.as_str(), "an incident: {}", incident.detail);
        metrics::counter!(INCIDENTS, "kind" => incident.kind.as_str()).increment(1);
        if self.0.try_send(incident).is_err() {
            tracing::warn!("too many incidents wait to be written, so this one is dropped");
        }
    }
}

/// An incident of the platform about workers of a pool.
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

/// Makes the recorder, the channel of written incidents, and the writer, which must be spawned.
pub(super) fn start<S: DispatchStore>(
    store: S,
    tenants: Arc<Tenants>,
) -> (Notes, broadcast::Sender<WrittenIncident>, impl Future<Output = ()> + Send + 'static) {
    let (notes, noted) = mpsc::channel(limits::INCIDENTS_PENDING_MAX);
    let told = broadcast::Sender::new(TOLD_MAX);
    let writer = Writer { store, tenants, told: told.clone(), ledger: Ledger::default() };
    (Notes(notes), told, writer.run(noted))
}

struct Writer<S> {
    store: S,
    tenants: Arc<Tenants>,
    told: broadcast::Sender<WrittenIncident>,
    ledger: Ledger,
}

impl<S: DispatchStore> Writer<S> {
    async fn run(mut self, mut noted: mpsc::Receiver<IncidentRow>) {
        let mut group = Vec::new();
        while noted.recv_many(&mut group, limits::INCIDENTS_PENDING_MAX).await > 0 {
            let mut folded: BTreeMap<i64, IncidentRow> = BTreeMap::new();
            for row in std::mem::take(&mut group) {
                match self.ledger.choose_row(&row) {
                    RowChoice::Row => self.insert(row).await,
                    RowChoice::Further => self.insert(further(row)).await,
                    // Incidents of one row become one update.
                    RowChoice::Into(id) => match folded.entry(id) {
                        std::collections::btree_map::Entry::Vacant(free) => {
                            free.insert(row);
                        }
                        std::collections::btree_map::Entry::Occupied(mut first) => {
                            fold(first.get_mut(), row);
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
        // A row that stands for several batches names none.
        let row = if row.tenant.is_some() && !is_of_run(&row) { further(row) } else { row };
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
        // There may be no subscriber.
        let _ = self.told.send(WrittenIncident { tenant, incident });
    }
}

/// Pauses and returns true if the database is unavailable, so that the write can be repeated.
async fn may_pass(error: StoreError) -> bool {
    if !matches!(error, StoreError::Unavailable(_) | StoreError::TooSlow(_)) {
        tracing::error!(%error, "an incident cannot be written");
        return false;
    }
    tracing::warn!(%error, "an incident cannot be written yet");
    assay_clock::sleep(RETRY_PAUSE).await;
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
        acknowledged: None,
    }
}

/// Adds another incident to the row of the first.
fn fold(first: &mut IncidentRow, other: IncidentRow) {
    first.count = first.count.saturating_add(other.count);
    first.at = first.at.max(other.at);
    first.detail = other.detail;
}

/// The incident without its batch and run, for a row that stands for many of them.
fn further(row: IncidentRow) -> IncidentRow {
    let what = match row.kind {
        IncidentKind::BatchLate => "batches ended late",
        IncidentKind::TrainerSilent => "batches got no requests",
        IncidentKind::RewardMissing => "runs got answers without a reward",
        IncidentKind::RewardDropped | IncidentKind::VerdictsChanged => {
            "batches differ from those before them"
        }
        _ => "batches had requests that failed",
    };
    let batch: Option<BatchId> = None;
    let detail = format!("further {what} in this minute; they are not listed separately");
    IncidentRow { batch, run: None, code: None, count: 1, detail, ..row }
}

/// Whether it is about a run, which has one row a minute and batch for all incidents like it.
fn is_of_run(row: &IncidentRow) -> bool {
    row.kind == IncidentKind::RewardMissing
}

/// The row to which an incident is written.
#[derive(Debug, PartialEq, Eq)]
enum RowChoice {
    Row,
    /// A new row that stands for all further incidents of this minute.
    Further,
    Into(i64),
}

/// The rows that were written this minute.
#[derive(Default)]
struct Ledger {
    minute: u64,
    written: HashMap<IncidentClass, Written>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct IncidentClass {
    tenant: Option<TenantId>,
    kind: IncidentKind,
    pool: Option<String>,
    /// For an incident of a run, and of one of its batches if that is known.
    run: Option<String>,
    batch: Option<BatchId>,
}

#[derive(Default)]
struct Written {
    rows: u32,
    /// The row to which further incidents are added.
    last: Option<i64>,
}

impl Ledger {
    /// Chooses the row. A pool has one row a minute for its workers, and a run one for its
    /// trainer and each batch; a tenant has several for its batches.
    fn choose_row(&mut self, row: &IncidentRow) -> RowChoice {
        let minute = row.at.0 / MINUTE;
        if minute > self.minute {
            self.minute = minute;
            self.written.clear();
        }
        let most = Self::most(row);
        let class = self.class(row);
        match self.written.get(&class) {
            Some(written) if written.rows >= most => {
                written.last.map_or(RowChoice::Further, RowChoice::Into)
            }
            None if row.run.is_some() && is_of_run(row) && class.run.is_none() => {
                RowChoice::Further
            }
            _ => RowChoice::Row,
        }
    }

    /// The class of an incident. Runs of a tenant beyond the limit have one in common.
    fn class(&self, row: &IncidentRow) -> IncidentClass {
        let run = row.run.clone().filter(|_| is_of_run(row));
        let batch = row.batch.filter(|_| is_of_run(row));
        let (tenant, kind, pool) = (row.tenant, row.kind, row.pool.clone());
        let class = IncidentClass { tenant, kind, pool, run, batch };
        let is_beside =
            |other: &&IncidentClass| other.tenant == class.tenant && other.run.is_some();
        let full = self.written.keys().filter(is_beside).count()
            >= limits::INCIDENTS_PER_MINUTE_MAX as usize;
        if full && !self.written.contains_key(&class) {
            return IncidentClass { run: None, batch: None, ..class };
        }
        class
    }

    fn most(row: &IncidentRow) -> u32 {
        if row.tenant.is_none() || is_of_run(row) { 1 } else { limits::INCIDENTS_PER_MINUTE_MAX }
    }

    fn wrote(&mut self, row: &IncidentRow, id: i64) {
        let (most, class) = (Self::most(row), self.class(row));
        let written = self.written.entry(class).or_default();
        written.rows += 1;
        if most == 1 || written.rows > most {
            written.last = Some(id);
        }
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
        assert_eq!(ledger.choose_row(&died(60)), RowChoice::Row);
        ledger.wrote(&died(60), 7);
        assert_eq!(ledger.choose_row(&died(119)), RowChoice::Into(7));
        let gpu = IncidentRow { pool: Some("gpu".into()), ..died(119) };
        assert_eq!(ledger.choose_row(&gpu), RowChoice::Row);
        assert_eq!(ledger.choose_row(&died(120)), RowChoice::Row);
        // A clock that went back changes nothing.
        ledger.wrote(&died(120), 8);
        assert_eq!(ledger.choose_row(&died(100)), RowChoice::Into(8));
    }

    #[test]
    fn a_run_whose_trainer_got_no_reward_has_a_row_a_minute() {
        let (mut ledger, tenant) = (Ledger::default(), TenantId::generate());
        let missing = |run: &str| IncidentRow {
            kind: IncidentKind::RewardMissing,
            run: Some(run.into()),
            batch: None,
            ..late(tenant)
        };
        for at in 0..i64::from(limits::INCIDENTS_PER_MINUTE_MAX) {
            let run = missing(&format!("run {at}"));
            assert_eq!(ledger.choose_row(&run), RowChoice::Row);
            ledger.wrote(&run, at);
            assert_eq!(ledger.choose_row(&run), RowChoice::Into(at));
        }
        // Names of runs are the tenant's: they are bounded.
        assert_eq!(ledger.choose_row(&missing("another")), RowChoice::Further);
        ledger.wrote(&missing("another"), 1_000);
        assert_eq!(ledger.choose_row(&missing("one more")), RowChoice::Into(1_000));
        assert_eq!(ledger.choose_row(&missing("run 0")), RowChoice::Into(0));
        assert_eq!(further(missing("another")).run, None);
        // Each iteration has a row of its own, by which its training step is found.
        let mut ledger = Ledger::default();
        let [first, second] =
            [0, 1].map(|_| IncidentRow { batch: Some(BatchId::generate()), ..missing("run") });
        assert_eq!(ledger.choose_row(&first), RowChoice::Row);
        ledger.wrote(&first, 1);
        assert_eq!(ledger.choose_row(&first), RowChoice::Into(1));
        assert_eq!(ledger.choose_row(&second), RowChoice::Row);
        assert_eq!(ledger.choose_row(&missing("run")), RowChoice::Row);
        // A call whose key is refused has no run, and its row says why.
        let refused = IncidentRow { tenant: None, run: None, ..missing("") };
        assert_eq!(ledger.choose_row(&refused), RowChoice::Row);
    }

    #[test]
    fn batches_have_rows_of_their_own_until_there_are_too_many() {
        let (mut ledger, tenant) = (Ledger::default(), TenantId::generate());
        for at in 0..i64::from(limits::INCIDENTS_PER_MINUTE_MAX) {
            assert_eq!(ledger.choose_row(&late(tenant)), RowChoice::Row);
            ledger.wrote(&late(tenant), at);
        }
        assert_eq!(ledger.choose_row(&late(tenant)), RowChoice::Further);
        ledger.wrote(&late(tenant), 1_000);
        assert_eq!(ledger.choose_row(&late(tenant)), RowChoice::Into(1_000));
        assert_eq!(ledger.choose_row(&late(TenantId::generate())), RowChoice::Row);
    }
}
