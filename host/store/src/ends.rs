//! Ends of batches: totals, profile, summary and usage, written in the statement of the last outcomes.

use assay_api::batch::BatchState;
use assay_api::result::Counts;
use assay_core::id::{BatchId, TenantId};
use assay_core::time::Micros;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::history::HistoryRow;
use super::outcomes::{OutcomeColumns, insert_outcomes};
use super::summaries::BatchSummaryRow;
use super::usage::{UsageRow, insert_counted};

/// The end of a batch, with its totals.
#[derive(Debug)]
pub struct EndRow {
    pub state: BatchState,
    pub ended_at: Micros,
    pub earliest_end_at: Option<Micros>,
    /// The extra delay that the batch might have: its own tolerance, or the platform's.
    pub tolerance: Micros,
    pub counts: Counts,
    pub reward_sum: f64,
    /// One row for each pool.
    pub usage: Vec<UsageRow>,
    /// The profile of a completed batch; `None` for every other state.
    pub history: Option<Box<HistoryRow>>,
    /// `None` for the batch of a single request.
    pub summary: Option<Box<BatchSummaryRow>>,
}

/// The ends of one commit: rows as JSON, which are few compared with outcomes and have many columns.
/// An array of texts, not one JSON array, because PostgreSQL takes the rows of `unnest` for few.
#[derive(Default)]
pub(super) struct EndRows {
    batches: Vec<String>,
    histories: Vec<String>,
    summaries: Vec<String>,
    usage: Vec<String>,
}

/// The columns of `batches` that an end changes, as JSON for a query.
#[derive(Serialize)]
struct EndJson {
    tenant_id: Uuid,
    id: Uuid,
    state: &'static str,
    ended_at: Micros,
    earliest_end_at: Option<Micros>,
    tolerance_ms: i32,
    submitted: u32,
    scored: u32,
    timed_out: u32,
    error: u32,
    shared: u32,
    reward_sum: f64,
}

fn text(row: &impl Serialize) -> String {
    serde_json::to_string(row).expect("rows are plain data")
}

impl EndRows {
    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    pub(super) fn push(&mut self, (tenant, batch): (TenantId, BatchId), end: &EndRow) {
        let EndRow { ended_at, counts, .. } = *end;
        self.batches.push(text(&EndJson {
            tenant_id: tenant.0,
            id: batch.0,
            state: end.state.as_str(),
            ended_at,
            earliest_end_at: end.earliest_end_at,
            tolerance_ms: i32::try_from(end.tolerance.0 / 1_000).unwrap_or(i32::MAX),
            submitted: counts.submitted,
            scored: counts.scored,
            timed_out: counts.timed_out,
            error: counts.error,
            shared: counts.shared,
            reward_sum: end.reward_sum,
        }));
        self.histories.extend(end.history.iter().map(|row| text(&row.json())));
        let summary = end.summary.as_ref();
        self.summaries
            .extend(summary.map(|row| text(&row.json((tenant, batch), ended_at, counts))));
        self.usage.extend(end.usage.iter().map(|row| text(&row.json(tenant, batch, ended_at))));
    }

    /// Inserts the outcomes and ends the batches that have not ended. Summary and usage count once: only
    /// with a batch that ends here.
    pub(super) async fn write(
        &self,
        outcomes: &OutcomeColumns<'_>,
        connection: &mut PgConnection,
    ) -> Result<(), sqlx::Error> {
        insert_outcomes!(
            outcomes,
            [+ r#"
            , ended as (
                update batches set
                    state = it.state,
                    ended_at = it.ended_at,
                    earliest_end_at = it.earliest_end_at,
                    tolerance_ms = it.tolerance_ms,
                    submitted = it.submitted,
                    scored = it.scored,
                    timed_out = it.timed_out,
                    error = it.error,
                    shared = it.shared,
                    reward_sum = it.reward_sum,
                    sealed_at = case when it.state = 'done'
                        then coalesce(batches.sealed_at, it.ended_at) else batches.sealed_at end
                from unnest($29::text[]) as r (row), json_populate_record(null::batches, row::json) as it
                where batches.tenant_id = it.tenant_id and batches.id = it.id
                    -- `ended_at is null`, written so that the planner does not walk the index of all
                    -- live batches for the few that end.
                    and coalesce(batches.ended_at, 'infinity') = 'infinity'
                returning batches.tenant_id, batches.id
            ), new_histories as (
                -- The columns are named, because a column that a later release added must get its default: a
                -- record of all columns has null for it.
                insert into batch_history (
                    tenant_id, batch_id, run, digest, stages, announced_at, first_arrival_at,
                    earliest_end_at, ended_at, requests, worker_seconds, arrived_us, ran_us, endings
                )
                select it.tenant_id, it.batch_id, it.run, it.digest, it.stages, it.announced_at,
                    it.first_arrival_at, it.earliest_end_at, it.ended_at, it.requests,
                    it.worker_seconds, it.arrived_us, it.ran_us, it.endings
                from unnest($30::text[]) as r (row), json_populate_record(null::batch_history, row::json) as it
            ), new_summaries as (
                insert into batch_rollups (
                    tenant_id, batch_id, run, plugin, version, ended_at, scored, timed_out, error,
                    reward_mean, reward_std, reward_min, reward_max, histogram_from, histogram_to,
                    histogram, verdicts, errors, worker_seconds, cost, groups, complete_groups,
                    zero_variance_groups, critical_seq, last_seq, stages,
                    expected_earliest_end_at, expected_done_at
                )
                select it.tenant_id, it.batch_id, it.run, it.plugin, it.version, it.ended_at,
                    it.scored, it.timed_out, it.error, it.reward_mean, it.reward_std, it.reward_min,
                    it.reward_max, it.histogram_from, it.histogram_to, it.histogram, it.verdicts,
                    it.errors, it.worker_seconds, it.cost, it.groups, it.complete_groups,
                    it.zero_variance_groups, it.critical_seq, it.last_seq, it.stages,
                    it.expected_earliest_end_at, it.expected_done_at
                from unnest($31::text[]) as r (row)
                    cross join json_populate_record(null::batch_rollups, row::json) as it
                    join ended on ended.tenant_id = it.tenant_id and ended.id = it.batch_id
                returning tenant_id, batch_id, run, ended_at
            ), run_ends as (
                update runs set
                    ended_batches = runs.ended_batches + latest.batches,
                    last_batch_at = greatest(runs.last_batch_at, latest.ended_at),
                    last_batch_id = case when runs.last_batch_at > latest.ended_at
                        then runs.last_batch_id else latest.batch_id end
                from (
                    select tenant_id, run, count(*)::integer as batches, max(ended_at) as ended_at,
                        (array_agg(batch_id order by ended_at desc))[1] as batch_id
                    from new_summaries group by tenant_id, run
                ) as latest
                where runs.tenant_id = latest.tenant_id and runs.name = latest.run
            ), new_usage as (
                insert into usage (tenant_id, day, pool, writer, requests, worker_seconds, cost)
                select it.tenant_id, it.day, it.pool, $1, sum(it.requests), sum(it.worker_seconds),
                    sum(it.cost)
                from unnest($32::text[]) as r (row)
                    cross join json_to_record(row::json) as it (
                        tenant_id uuid, batch_id uuid, day date, pool text, requests bigint,
                        worker_seconds double precision, cost double precision
                    )
                    join ended on ended.tenant_id = it.tenant_id and ended.id = it.batch_id
                group by it.tenant_id, it.day, it.pool
                on conflict (tenant_id, day, pool, writer) do update set
                    requests = usage.requests + excluded.requests,
                    worker_seconds = usage.worker_seconds + excluded.worker_seconds,
                    cost = usage.cost + excluded.cost
            )
            "#],
            &self.batches,
            &self.histories,
            &self.summaries,
            &self.usage,
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}
