//! Ends of batches: totals, profile, summary and usage, a statement a table.

use std::collections::HashSet;

use assay_api::batch::BatchState;
use assay_api::result::Counts;
use assay_core::id::{BatchId, TenantId};
use assay_core::time::Micros;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::history::{HistoryColumns, HistoryRow};
use super::summaries::{BatchSummaryRow, SummaryRows};
use super::usage::{UsageColumns, UsageRow};

/// The end of a batch, with its totals.
#[derive(Debug)]
pub struct EndRow {
    pub state: BatchState,
    pub ended_at: Micros,
    pub earliest_end_at: Option<Micros>,
    pub counts: Counts,
    pub reward_sum: f64,
    /// One row for each pool.
    pub usage: Vec<UsageRow>,
    /// The profile of a completed batch; `None` for every other state.
    pub history: Option<Box<HistoryRow>>,
    /// `None` for the batch of a single request.
    pub summary: Option<Box<BatchSummaryRow>>,
}

/// Writes ends inside the caller's transaction. Summary and usage count once: only with a batch that
/// had not ended.
pub(super) async fn write(
    connection: &mut PgConnection,
    ends: &[(TenantId, BatchId, &EndRow)],
) -> Result<(), sqlx::Error> {
    let ended = EndColumns::gather(ends).update(connection).await?;
    let histories =
        HistoryColumns::gather(ends.iter().filter_map(|(.., end)| end.history.as_deref()));
    if !histories.is_empty() {
        histories.insert(connection).await?;
    }
    let mut usage = UsageColumns::default();
    let mut summaries = SummaryRows::default();
    for (tenant, batch, end) in ends {
        if !ended.contains(&(tenant.0, batch.0)) {
            continue;
        }
        usage.push(*tenant, end.ended_at, &end.usage);
        if let Some(summary) = end.summary.as_deref() {
            summaries.push((*tenant, *batch), end.ended_at, end.counts, summary);
        }
    }
    if !summaries.is_empty() {
        summaries.insert(connection).await?;
    }
    if !usage.is_empty() {
        usage.add(connection).await?;
    }
    Ok(())
}

#[derive(Default)]
struct EndColumns {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    state: Vec<&'static str>,
    ended_at: Vec<OffsetDateTime>,
    earliest_end_at: Vec<Option<OffsetDateTime>>,
    submitted: Vec<i32>,
    scored: Vec<i32>,
    timed_out: Vec<i32>,
    error: Vec<i32>,
    shared: Vec<i32>,
    reward_sum: Vec<f64>,
}

impl EndColumns {
    fn gather(ends: &[(TenantId, BatchId, &EndRow)]) -> Self {
        let mut columns = Self::default();
        for (tenant, batch, row) in ends {
            columns.tenant.push(tenant.0);
            columns.batch.push(batch.0);
            columns.state.push(super::batches::state_text(row.state));
            columns.ended_at.push(row.ended_at.to_datetime());
            columns.earliest_end_at.push(row.earliest_end_at.map(Micros::to_datetime));
            columns.submitted.push(row.counts.submitted.cast_signed());
            columns.scored.push(row.counts.scored.cast_signed());
            columns.timed_out.push(row.counts.timed_out.cast_signed());
            columns.error.push(row.counts.error.cast_signed());
            columns.shared.push(row.counts.shared.cast_signed());
            columns.reward_sum.push(row.reward_sum);
        }
        columns
    }

    /// Ends the batches that have not ended, and returns them.
    async fn update(
        &self,
        connection: &mut PgConnection,
    ) -> Result<HashSet<(Uuid, Uuid)>, sqlx::Error> {
        let rows = sqlx::query!(
            r#"
            update batches set
                state = ends.state,
                ended_at = ends.ended_at,
                earliest_end_at = ends.earliest_end_at,
                submitted = ends.submitted,
                scored = ends.scored,
                timed_out = ends.timed_out,
                error = ends.error,
                shared = ends.shared,
                reward_sum = ends.reward_sum,
                sealed_at = case when ends.state = 'done'
                    then coalesce(batches.sealed_at, ends.ended_at) else batches.sealed_at end
            from unnest(
                $1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[],
                $6::integer[], $7::integer[], $8::integer[], $9::integer[], $10::integer[],
                $11::double precision[]
            ) as ends (
                tenant_id, id, state, ended_at, earliest_end_at, submitted, scored, timed_out, error,
                shared, reward_sum
            )
            where batches.tenant_id = ends.tenant_id and batches.id = ends.id
                -- `ended_at is null`, written so that the planner does not walk the index of all
                -- live batches for the few that end.
                and coalesce(batches.ended_at, 'infinity') = 'infinity'
            returning batches.tenant_id, batches.id
            "#,
            &self.tenant,
            &self.batch,
            &self.state as _,
            &self.ended_at,
            &self.earliest_end_at as _,
            &self.submitted,
            &self.scored,
            &self.timed_out,
            &self.error,
            &self.shared,
            &self.reward_sum,
        )
        .fetch_all(connection)
        .await?;
        Ok(rows.into_iter().map(|row| (row.tenant_id, row.id)).collect())
    }
}
