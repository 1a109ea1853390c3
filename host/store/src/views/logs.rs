//! The lines that a plugin logged for the requests of a run.

use assay_api::authoring::RunLogLine;
use assay_core::id::{BatchId, RequestId, TenantId};

use crate::summaries::integer;
use crate::{Store, StoreError};

/// Which lines of a batch are asked for.
#[derive(Debug, Default, Clone)]
pub struct LogFilter {
    /// The verdict of the line's request.
    pub verdict: Option<String>,
    pub level: Option<String>,
}

/// A line's place in its batch: its request, and its number there.
pub type LogPlace = (u32, u32);

/// A line's place in the order of completion: the cursor of its request's result, and its number there.
pub type EndedLogPlace = (u32, u32);

impl Store {
    /// The batches of a run that are kept, the newest first, from `newest` on.
    pub async fn kept_batches(
        &self,
        tenant: TenantId,
        run: &str,
        newest: Option<BatchId>,
        limit: u32,
    ) -> Result<Vec<BatchId>, StoreError> {
        let ids = sqlx::query_scalar!(
            "select id from batches
            where tenant_id = $1 and run = $2 and id <= $3
                and sealed_at is distinct from announced_at and expired_at is null
            order by id desc limit $4",
            tenant.0,
            run,
            newest.map_or(uuid::Uuid::max(), |newest| newest.0),
            i64::from(limit),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(ids.into_iter().map(BatchId).collect())
    }

    /// The lines of one batch after `after`, in the order of its requests, each with its place.
    pub async fn batch_logs(
        &self,
        tenant: TenantId,
        batch: BatchId,
        filter: &LogFilter,
        after: Option<LogPlace>,
        limit: u32,
    ) -> Result<Vec<(LogPlace, RunLogLine)>, StoreError> {
        let (seq, line) = after.map_or((-1, -1), |(seq, line)| (integer(seq), integer(line)));
        let rows = sqlx::query!(
            r#"
            select l.seq, l.line, l.stage, l.level, l.message, o.verdict as "verdict?"
            from logs l left join lateral (
                select verdict from outcome_of(l.tenant_id, l.batch_id, l.seq) limit 1
            ) o on true
            where l.tenant_id = $1 and l.batch_id = $2 and (l.seq, l.line) > ($3, $4)
                and ($5::text is null or l.level = $5)
                and ($6::text is null or o.verdict = $6)
            order by l.seq, l.line limit $7
            "#,
            tenant.0,
            batch.0,
            seq,
            line,
            filter.level.as_deref(),
            filter.verdict.as_deref(),
            i64::from(limit),
        )
        .fetch_all(&self.pool)
        .await?;
        let lines = rows.into_iter().map(|row| {
            let seq = row.seq.cast_unsigned();
            let request = RequestId { batch, seq };
            let (verdict, stage, level) = (row.verdict, row.stage, row.level);
            let line = RunLogLine { request, verdict, stage, level, message: row.message };
            ((seq, row.line.cast_unsigned()), line)
        });
        Ok(lines.collect())
    }

    /// The lines of one batch's ended requests after `after`, in the order of completion, each with its place.
    pub async fn ended_logs(
        &self,
        tenant: TenantId,
        batch: BatchId,
        filter: &LogFilter,
        after: EndedLogPlace,
        limit: u32,
    ) -> Result<Vec<(EndedLogPlace, RunLogLine)>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select o.position as "position!", l.seq, l.line, l.stage, l.level, l.message,
                o.verdict as "verdict!"
            from (
                select seq, position, verdict from all_outcomes
                where tenant_id = $1 and batch_id = $2 and position >= $3 and last_position >= $3
                    and ($6::text is null or verdict = $6)
            ) o cross join lateral (
                -- Without its offset the outcomes might be read anew for each line.
                select seq, line, stage, level, message from logs
                where tenant_id = $1 and batch_id = $2 and seq = o.seq
                    and ($5::text is null or level = $5)
                offset 0
            ) l
            where (o.position, l.line) > ($3, $4)
            order by o.position, l.line limit $7
            "#,
            tenant.0,
            batch.0,
            integer(after.0),
            integer(after.1),
            filter.level.as_deref(),
            filter.verdict.as_deref(),
            i64::from(limit),
        )
        .fetch_all(&self.pool)
        .await?;
        let lines = rows.into_iter().map(|row| {
            let request = RequestId { batch, seq: row.seq.cast_unsigned() };
            let (verdict, stage, level) = (Some(row.verdict), row.stage, row.level);
            let line = RunLogLine { request, verdict, stage, level, message: row.message };
            ((row.position.cast_unsigned(), row.line.cast_unsigned()), line)
        });
        Ok(lines.collect())
    }
}
