//! Outcomes, and everything else that is recorded of requests and batches: what a group commit of
//! the way out writes.

use assay_core::id::{BatchId, TenantId};
use assay_core::time::Micros;
use bytes::Bytes;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

pub use super::artifacts::{ArtifactRow, LogRow};
pub use super::ends::EndRow;

use super::artifacts::{ArtifactColumns, LogColumns};
use super::ends::EndRows;
use super::group_commit::Weigh;
use super::usage::{StoredColumns, insert_counted};

#[derive(Debug)]
pub struct OutcomeRow {
    pub seq: u32,
    /// Place in the order in which the batch's requests ended, from 1.
    pub position: u32,
    pub kind: &'static str,
    pub reward: Option<f64>,
    pub verdict: String,
    pub earliest_end_at: Micros,
    pub finished_at: Micros,
    /// Whether the computation was an equal request's; `result` names that request.
    pub shared: bool,
    /// The `ResultItem` for the trainer, as JSON.
    pub result: Bytes,
}

/// A record of a request or of a batch.
#[derive(Debug)]
pub enum Record {
    Outcome(OutcomeRow),
    Artifact(ArtifactRow),
    Logs(Vec<LogRow>),
    End(EndRow),
}

/// A record and the batch that it belongs to.
#[derive(Debug)]
pub struct Recorded {
    pub tenant: TenantId,
    pub batch: BatchId,
    pub record: Record,
}

impl Recorded {
    /// Whether it is the end of the batch, after which nothing of the batch follows.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self.record, Record::End(_))
    }
}

impl Weigh for Recorded {
    fn rows(&self) -> usize {
        match &self.record {
            Record::Logs(logs) => logs.len(),
            _ => 1,
        }
    }

    fn bytes(&self) -> usize {
        match &self.record {
            Record::Outcome(row) => row.result.len(),
            Record::Artifact(row) => row.artifact.bytes.len(),
            Record::Logs(logs) => logs.iter().map(|log| log.message.len()).sum(),
            Record::End(row) => row.history.as_ref().map_or(0, |history| history.bytes()),
        }
    }
}

/// Writes everything. Artifacts and logs are committed first, and a repeat skips those that are
/// there. Outcomes and ends are committed together; that fails on an outcome which is there already.
///
/// Outcomes, and the ends that come with them, are one statement, which is a transaction by itself and
/// needs one round trip. Most groups hold no end of a batch, and a shorter statement writes them.
pub async fn write(connection: &mut PgConnection, group: &[&Recorded]) -> Result<(), sqlx::Error> {
    let mut artifacts = ArtifactColumns::default();
    let mut logs = LogColumns::default();
    let mut outcomes = OutcomeColumns::default();
    let mut ends = EndRows::default();
    for recorded in group {
        let (tenant, batch) = (recorded.tenant, recorded.batch);
        match &recorded.record {
            Record::Artifact(row) => artifacts.push((tenant, batch), row),
            Record::Logs(rows) => rows.iter().for_each(|row| logs.push((tenant, batch), row)),
            Record::Outcome(row) => outcomes.push((tenant, batch), row),
            Record::End(row) => ends.push((tenant, batch), row),
        }
    }
    if !artifacts.seq.is_empty() {
        artifacts.insert(connection).await?;
    }
    if !logs.seq.is_empty() {
        logs.insert(connection).await?;
    }
    outcomes.sum_bytes();
    if !ends.is_empty() {
        ends.write(&outcomes, connection).await
    } else if !outcomes.seq.is_empty() {
        outcomes.insert(connection).await
    } else {
        Ok(())
    }
}

/// Makes a checked query that inserts outcomes and adds up their bytes. `$with` are more `with` queries,
/// each after a comma; their parameters are bound from `$14` on.
macro_rules! insert_outcomes {
    ($outcomes:expr, [$($with:tt)*], $($parameters:tt)*) => {
        insert_counted!(
            "outcomes",
            [r#"
            new_outcomes as (
                insert into outcomes (
                    tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
                    finished_at, result
                )
                select tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
                    finished_at, result::json
                from unnest(
                    $4::uuid[], $5::uuid[], $6::integer[], $7::integer[], $8::text[],
                    $9::double precision[], $10::text[], $11::timestamptz[], $12::timestamptz[],
                    $13::text[]
                ) as t (
                    tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
                    finished_at, result
                )
            ), added as (
                select * from unnest($2::uuid[], $3::bigint[]) as t (tenant_id, bytes)
            )
            "# $($with)*],
            &$outcomes.stored.tenant,
            &$outcomes.stored.bytes,
            &$outcomes.tenant,
            &$outcomes.batch,
            &$outcomes.seq,
            &$outcomes.position,
            &$outcomes.kind as _,
            &$outcomes.reward as _,
            &$outcomes.verdict as _,
            &$outcomes.earliest_end_at,
            &$outcomes.finished_at,
            &$outcomes.result as _,
            $($parameters)*
        )
    };
}
pub(super) use insert_outcomes;

#[derive(Default)]
pub(super) struct OutcomeColumns<'a> {
    pub tenant: Vec<Uuid>,
    pub batch: Vec<Uuid>,
    pub seq: Vec<i32>,
    pub position: Vec<i32>,
    pub kind: Vec<&'static str>,
    pub reward: Vec<Option<f64>>,
    pub verdict: Vec<&'a str>,
    pub earliest_end_at: Vec<OffsetDateTime>,
    pub finished_at: Vec<OffsetDateTime>,
    pub result: Vec<&'a str>,
    /// The bytes of `result`, by tenant.
    pub stored: StoredColumns,
}

impl<'a> OutcomeColumns<'a> {
    fn push(&mut self, (tenant, batch): (TenantId, BatchId), row: &'a OutcomeRow) {
        self.tenant.push(tenant.0);
        self.batch.push(batch.0);
        self.seq.push(row.seq.cast_signed());
        self.position.push(row.position.cast_signed());
        self.kind.push(row.kind);
        self.reward.push(row.reward);
        self.verdict.push(&row.verdict);
        self.earliest_end_at.push(row.earliest_end_at.to_datetime());
        self.finished_at.push(row.finished_at.to_datetime());
        self.result.push(std::str::from_utf8(&row.result).expect("JSON is UTF-8"));
    }

    fn sum_bytes(&mut self) {
        let sizes = self.tenant.iter().zip(&self.result);
        self.stored = StoredColumns::sum(sizes.map(|(tenant, it)| (TenantId(*tenant), it.len())));
    }

    async fn insert(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        insert_outcomes!(self, [],).execute(connection).await?;
        Ok(())
    }
}
