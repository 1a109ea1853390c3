//! Outcomes, and everything else that is recorded of requests and batches: what a group commit of
//! the way out writes.

use assay_core::id::{BatchId, TenantId};
use sqlx::PgConnection;
use uuid::Uuid;

pub use super::artifacts::{ArtifactRow, LogRow};
pub use super::ends::EndRow;
pub use super::segments::OutcomeRow;

use super::artifacts::{ArtifactColumns, LogColumns};
use super::ends::EndRows;
use super::group_commit::Weigh;
use super::segments::{FactColumns, OutcomePiece, SegmentColumns, WrittenOutcome, cut};
use super::usage::{StoredColumns, insert_counted};

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
    let mut outcomes = Vec::new();
    let mut ends = EndRows::default();
    for recorded in group {
        let (tenant, batch) = (recorded.tenant, recorded.batch);
        match &recorded.record {
            Record::Artifact(row) => artifacts.push((tenant, batch), row),
            Record::Logs(rows) => rows.iter().for_each(|row| logs.push((tenant, batch), row)),
            Record::Outcome(row) => outcomes.push(WrittenOutcome { tenant, batch, row }),
            Record::End(row) => ends.push((tenant, batch), row),
        }
    }
    if !artifacts.seq.is_empty() {
        artifacts.insert(connection).await?;
    }
    if !logs.seq.is_empty() {
        logs.insert(connection).await?;
    }
    let outcomes = OutcomeColumns::of(outcomes);
    if !ends.is_empty() {
        ends.write(&outcomes, connection).await
    } else if !outcomes.is_empty() {
        outcomes.insert(connection).await
    } else {
        Ok(())
    }
}

/// Makes a checked query that inserts outcomes, as rows and as segments, and adds up their bytes. `$with` are more `with`
/// queries, each after a comma; their parameters are bound from `$29` on.
///
/// The keys refuse a row that is there as a row, and a segment that begins as one that is there. The rest is looked up:
/// a row that is there in a segment, and a segment that shares a request with rows or with a segment that was cut
/// otherwise. Rows that another transaction has written and not yet committed are not seen so. That is enough: a repeat is cut
/// as its first try was, so that its keys wait for that one. Another cut is written only after the whole was refused.
macro_rules! insert_outcomes {
    ($outcomes:expr, [$($with:tt)*], $($parameters:tt)*) => {
        insert_counted!(
            "outcomes",
            [r#"
            new_outcomes as (
                insert into outcome_rows (
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
                where case when exists (
                    select from outcome_segments s
                    where s.tenant_id = t.tenant_id and s.batch_id = t.batch_id
                        and s.block = t.seq >> 10 and s.first_seq <= t.seq and s.last_seq >= t.seq
                        and array_position(s.seqs, t.seq) is not null
                ) then refuse_outcome(t.batch_id, t.seq) else true end
            ), cuts as materialized (
                select tenant_id, batch_id, first_position, last_position, result_bytes, head, tail,
                    ($21::integer[])[head] as first_seq, ($21::integer[])[tail] as last_seq,
                    ($21::integer[])[head:tail] as seqs
                from unnest(
                    $14::uuid[], $15::uuid[], $16::integer[], $17::integer[], $18::integer[],
                    $19::integer[], $20::bigint[]
                ) as t (
                    tenant_id, batch_id, head, tail, first_position, last_position, result_bytes
                )
            ), new_segments as (
                insert into outcome_segments (
                    tenant_id, batch_id, block, first_seq, last_seq, first_position, last_position,
                    result_bytes, seqs, positions, kinds, rewards, verdicts, earliest_end_times,
                    finish_times, results
                )
                select tenant_id, batch_id, first_seq >> 10, first_seq, last_seq, first_position,
                    last_position, result_bytes, seqs, ($22::integer[])[head:tail],
                    ($23::text[])[head:tail], ($24::double precision[])[head:tail],
                    ($25::text[])[head:tail], ($26::timestamptz[])[head:tail],
                    ($27::timestamptz[])[head:tail], ($28::text[])[head:tail]
                from cuts t
                where case when exists (
                    select from outcome_rows o
                    where o.tenant_id = t.tenant_id and o.batch_id = t.batch_id
                        and o.seq >= t.first_seq and o.seq <= t.last_seq
                        and array_position(t.seqs, o.seq) is not null
                ) or exists (
                    select from outcome_segments s
                    where s.tenant_id = t.tenant_id and s.batch_id = t.batch_id
                        and s.block = t.first_seq >> 10 and s.first_seq <= t.last_seq
                        and s.last_seq >= t.first_seq and s.seqs && t.seqs
                ) then refuse_outcome(t.batch_id, t.first_seq) else true end
            ), added as (
                select * from unnest($2::uuid[], $3::bigint[]) as t (tenant_id, bytes)
            )
            "# $($with)*],
            &$outcomes.stored.tenant,
            &$outcomes.stored.bytes,
            &$outcomes.rows.tenant,
            &$outcomes.rows.batch,
            &$outcomes.rows.facts.seq,
            &$outcomes.rows.facts.position,
            &$outcomes.rows.facts.kind as _,
            &$outcomes.rows.facts.reward as _,
            &$outcomes.rows.facts.verdict as _,
            &$outcomes.rows.facts.earliest_end_at,
            &$outcomes.rows.facts.finished_at,
            &$outcomes.rows.facts.result as _,
            &$outcomes.segments.tenant,
            &$outcomes.segments.batch,
            &$outcomes.segments.head,
            &$outcomes.segments.tail,
            &$outcomes.segments.first_position,
            &$outcomes.segments.last_position,
            &$outcomes.segments.result_bytes,
            &$outcomes.segments.facts.seq,
            &$outcomes.segments.facts.position,
            &$outcomes.segments.facts.kind as _,
            &$outcomes.segments.facts.reward as _,
            &$outcomes.segments.facts.verdict as _,
            &$outcomes.segments.facts.earliest_end_at,
            &$outcomes.segments.facts.finished_at,
            &$outcomes.segments.facts.result as _,
            $($parameters)*
        )
    };
}
pub(super) use insert_outcomes;

/// The outcomes of one commit: rows, and segments of those that are many.
pub(super) struct OutcomeColumns<'a> {
    pub rows: RowColumns<'a>,
    pub segments: SegmentColumns<'a>,
    /// The bytes of the results, by tenant.
    pub stored: StoredColumns,
}

impl<'a> OutcomeColumns<'a> {
    fn of(outcomes: Vec<WrittenOutcome<'a>>) -> Self {
        let sizes = outcomes.iter().map(|it| (it.tenant, it.row.result.len()));
        let stored = StoredColumns::sum(sizes);
        let mut columns =
            Self { rows: RowColumns::default(), segments: SegmentColumns::default(), stored };
        for piece in cut(outcomes) {
            match piece {
                OutcomePiece::Rows(outcomes) => {
                    outcomes.iter().for_each(|it| columns.rows.push(it))
                }
                OutcomePiece::Segment(outcomes) => columns.segments.push(&outcomes),
            }
        }
        columns
    }

    fn is_empty(&self) -> bool {
        self.rows.tenant.is_empty() && self.segments.tenant.is_empty()
    }

    async fn insert(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        insert_outcomes!(self, [],).execute(connection).await?;
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct RowColumns<'a> {
    pub tenant: Vec<Uuid>,
    pub batch: Vec<Uuid>,
    pub facts: FactColumns<'a>,
}

impl<'a> RowColumns<'a> {
    fn push(&mut self, outcome: &WrittenOutcome<'a>) {
        self.tenant.push(outcome.tenant.0);
        self.batch.push(outcome.batch.0);
        self.facts.push(outcome.row);
    }
}

#[cfg(test)]
mod tests;
