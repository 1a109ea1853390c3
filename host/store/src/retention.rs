//! Retention: requests, artifacts, results and logs of ended batches are deleted when they are old, in
//! small transactions. The batches' own rows stay, with their totals; those of single requests, which no list shows, are
//! deleted some time later.
//!
//! ```text
//!   ended ──(older than its tenant keeps it)──> expired ──(rows deleted, a piece at a time)──> purged
//! ```
//!
//! From `expired` on nobody reads its rows, so that nobody takes a part of them for the whole.
//!
//! `tenants.purged_to` bounds the look for old batches: what ended before it was purged. It follows the clock in both
//! directions, so that what a clock did that was years ahead for an hour is over with that hour.

use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use sqlx::postgres::PgQueryResult;
use uuid::Uuid;

use super::{Store, StoreError};

/// Batches that are looked at together.
const BATCHES_AT_ONCE: i64 = 1_000;

/// An ended batch that may go.
#[derive(Debug, Clone, Copy)]
struct Old {
    id: Uuid,
    requests: u32,
}

impl Store {
    /// Expires and purges what ended before `before`; `expired` hears of each batch before anything
    /// of it is deleted. Returns how many those were.
    pub async fn purge_batches(
        &self,
        tenant: TenantId,
        before: Micros,
        now: Micros,
        mut expired: impl FnMut(BatchId),
    ) -> Result<u64, StoreError> {
        let mut purged = 0;
        loop {
            let batches = self.old_batches(tenant, before).await?;
            for batches in together(&batches) {
                let ids: Vec<Uuid> = batches.iter().map(|batch| batch.id).collect();
                self.expire(tenant, &ids, now).await?;
                ids.iter().for_each(|id| expired(BatchId(*id)));
                let requests = batches.iter().map(|batch| batch.requests).max().unwrap_or(0);
                self.purge_rows(tenant, &ids, requests).await?;
                self.mark_purged(tenant, &ids, now).await?;
                purged += ids.len() as u64;
            }
            if batches.is_empty() {
                self.forget_singles(tenant, before).await?;
                self.mark_purged_to(tenant, before).await?;
                return Ok(purged);
            }
        }
    }

    async fn old_batches(&self, tenant: TenantId, before: Micros) -> Result<Vec<Old>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select id, coalesce(submitted, 0) as "requests!" from batches
            where tenant_id = $1 and ended_at < $2 and purged_at is null
                and ended_at >= (select purged_to from tenants where id = $1)
            limit $3
            "#,
            tenant.0,
            before.to_datetime(),
            BATCHES_AT_ONCE,
        )
        .fetch_all(&self.upkeep)
        .await?;
        let old =
            rows.into_iter().map(|row| Old { id: row.id, requests: row.requests.cast_unsigned() });
        Ok(old.collect())
    }

    /// Deletes the batches' rows of single requests that ended long before `before`.
    async fn forget_singles(&self, tenant: TenantId, before: Micros) -> Result<(), StoreError> {
        let kept = limits::PURGED_SINGLE_DAYS_KEPT;
        delete_in_pieces(|limit| async move {
            sqlx::query!(
                "delete from batches where tenant_id = $1 and id in (
                    select id from batches
                    where tenant_id = $1 and ended_at < $2 and purged_at is not null
                        and ended_at >= (select purged_to from tenants where id = $1)
                            - make_interval(days => $3)
                        and sealed_at = announced_at
                    limit $4
                )",
                tenant.0,
                before.since(Micros::from_days(kept)).to_datetime(),
                kept.cast_signed(),
                limit,
            )
            .execute(&self.upkeep)
            .await
        })
        .await?;
        Ok(())
    }

    async fn expire(&self, tenant: TenantId, ids: &[Uuid], now: Micros) -> Result<(), StoreError> {
        sqlx::query!(
            "update batches set expired_at = coalesce(expired_at, $3)
            where tenant_id = $1 and id = any ($2)",
            tenant.0,
            ids,
            now.to_datetime(),
        )
        .execute(&self.upkeep)
        .await?;
        Ok(())
    }

    async fn purge_rows(
        &self,
        tenant: TenantId,
        ids: &[Uuid],
        requests: u32,
    ) -> Result<(), StoreError> {
        let step = limits::PURGED_ROWS_AT_ONCE;
        let mut from = 0;
        while from + step < requests {
            self.purge_piece(tenant, ids, from.cast_signed(), (from + step).cast_signed()).await?;
            from += step;
        }
        // Also what was committed after the end of its batch, such as requests that came while it was cancelled.
        self.purge_piece(tenant, ids, from.cast_signed(), i32::MAX).await
    }

    /// Deletes the rows of the requests from one place to another; what they held is given back.
    async fn purge_piece(
        &self,
        tenant: TenantId,
        ids: &[Uuid],
        from: i32,
        to: i32,
    ) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            with old_requests as (
                delete from requests
                where tenant_id = $1 and batch_id = any ($2) and seq >= $3 and seq < $4
                returning octet_length(body)::bigint as bytes
            ), old_artifacts as (
                delete from artifacts
                where tenant_id = $1 and batch_id = any ($2) and seq >= $3 and seq < $4
                returning octet_length(bytes)::bigint as bytes
            ), old_outcomes as (
                delete from outcome_rows
                where tenant_id = $1 and batch_id = any ($2) and seq >= $3 and seq < $4
                returning octet_length(result::text)::bigint as bytes
            ), old_segments as (
                -- A segment goes with the first of its requests.
                delete from outcome_segments
                where tenant_id = $1 and batch_id = any ($2) and block >= $3 >> 10
                    and block <= $4 >> 10 and first_seq >= $3 and first_seq < $4
                returning result_bytes as bytes
            ), old_logs as (
                delete from logs
                where tenant_id = $1 and batch_id = any ($2) and seq >= $3 and seq < $4
                returning octet_length(message)::bigint as bytes
            ), old_samples as (
                delete from samples
                where tenant_id = $1 and batch_id = any ($2) and seq >= $3 and seq < $4
            ), old_sample_texts as (
                delete from sample_texts
                where tenant_id = $1 and batch_id = any ($2) and seq >= $3 and seq < $4
            )
            insert into stored_bytes (tenant_id, writer, bytes)
            select $1, 'retention', -coalesce(sum(bytes), 0)
            from (
                select * from old_requests union all select * from old_artifacts
                union all select * from old_outcomes union all select * from old_segments
                union all select * from old_logs
            ) as rows
            on conflict (tenant_id, writer)
            do update set bytes = stored_bytes.bytes + excluded.bytes
            "#,
            tenant.0,
            ids,
            from,
            to,
        )
        .execute(&self.upkeep)
        .await?;
        Ok(())
    }

    async fn mark_purged(
        &self,
        tenant: TenantId,
        ids: &[Uuid],
        now: Micros,
    ) -> Result<(), StoreError> {
        sqlx::query!(
            "update batches set purged_at = $3 where tenant_id = $1 and id = any ($2)",
            tenant.0,
            ids,
            now.to_datetime(),
        )
        .execute(&self.upkeep)
        .await?;
        Ok(())
    }

    /// Nothing before this is left to look for.
    async fn mark_purged_to(&self, tenant: TenantId, to: Micros) -> Result<(), StoreError> {
        sqlx::query!(
            "update tenants set purged_to = $2 where id = $1",
            tenant.0,
            to.to_datetime(),
        )
        .execute(&self.upkeep)
        .await?;
        Ok(())
    }
}

/// Deletes rows in statements of a bounded size until one finds fewer rows than its limit, which is the
/// argument of `delete`. Returns the number of deleted rows.
pub(super) async fn delete_in_pieces<F>(delete: impl Fn(i64) -> F) -> Result<u64, StoreError>
where
    F: Future<Output = Result<PgQueryResult, sqlx::Error>>,
{
    let mut deleted = 0;
    loop {
        let piece = delete(i64::from(limits::PURGED_ROWS_AT_ONCE)).await?.rows_affected();
        deleted += piece;
        if piece < u64::from(limits::PURGED_ROWS_AT_ONCE) {
            return Ok(deleted);
        }
    }
}

/// Small batches together, up to what one transaction deletes; a larger one alone.
fn together(batches: &[Old]) -> Vec<&[Old]> {
    let mut groups = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for (at, batch) in batches.iter().enumerate() {
        if at > start && rows + batch.requests > limits::PURGED_ROWS_AT_ONCE {
            groups.push(&batches[start..at]);
            (start, rows) = (at, 0);
        }
        rows += batch.requests;
    }
    groups.extend(batches.get(start..).filter(|last| !last.is_empty()));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(requests: &[u32]) -> Vec<usize> {
        let batches: Vec<Old> =
            requests.iter().map(|&requests| Old { id: Uuid::nil(), requests }).collect();
        together(&batches).iter().map(|group| group.len()).collect()
    }

    #[test]
    fn small_batches_go_together_and_a_large_one_alone() {
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&[1, 1, 1]), [3]);
        assert_eq!(sizes(&[4_000, 1_000, 1]), [2, 1]);
        assert_eq!(sizes(&[1, 131_072, 1, 1]), [1, 1, 2]);
    }
}
