//! Batches as rows: for those which are no longer live.

use assay_api::batch::{Batch, BatchState, Consumes};
use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::plugin::VersionName;
use assay_core::time::Micros;

use super::plugins::stored_digest;
use super::summaries::counts;
use super::{Store, StoreError};

pub(super) fn state_of(text: &str) -> BatchState {
    match text {
        "announced" => BatchState::Announced,
        "open" => BatchState::Open,
        "sealed" => BatchState::Sealed,
        "cancelled" => BatchState::Cancelled,
        "expired" => BatchState::Expired,
        _ => BatchState::Done,
    }
}

pub(super) fn consumes_of(groups: bool) -> Consumes {
    if groups { Consumes::Groups } else { Consumes::Batch }
}

impl Store {
    /// A batch as it was last written: exact once it has ended.
    pub async fn batch(&self, tenant: TenantId, id: BatchId) -> Result<Batch, StoreError> {
        let row = sqlx::query!(
            "select run, iteration, plugin, version, digest, expected_size, group_size,
                max_extra_delay_ms, consumes_groups, state, announced_at, first_request_at, sealed_at, ended_at,
                earliest_end_at, submitted, scored, timed_out, error, shared, reward_sum, expired_at
            from batches where tenant_id = $1 and id = $2",
            tenant.0,
            id.0,
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("batch"))?;
        let counts = counts([row.submitted, row.scored, row.timed_out, row.error], row.shared);
        let ended_at = row.ended_at.map(Micros::from_datetime);
        let earliest_end_at = row.earliest_end_at.map(Micros::from_datetime);
        Ok(Batch {
            id,
            state: state_of(&row.state),
            plugin: VersionName { name: &row.plugin, version: &row.version }.to_string(),
            plugin_digest: stored_digest(&row.digest)?,
            run: row.run,
            iteration: row.iteration.cast_unsigned(),
            expected_size: row.expected_size.map(i32::cast_unsigned),
            group_size: row.group_size.map(i32::cast_unsigned),
            max_extra_delay_ms: row.max_extra_delay_ms.map(i32::cast_unsigned),
            consumes: consumes_of(row.consumes_groups),
            outstanding: None,
            counts,
            mean_reward: counts.mean_reward(row.reward_sum),
            announced_at: Micros::from_datetime(row.announced_at),
            first_request_at: row.first_request_at.map(Micros::from_datetime),
            sealed_at: row.sealed_at.map(Micros::from_datetime),
            done_at: ended_at,
            estimated_done_at: ended_at,
            extra_delay_ms: ended_at
                .zip(earliest_end_at)
                .map(|(ended, earliest)| ended.since(earliest).as_ms_f64()),
            expired_at: row.expired_at.map(Micros::from_datetime),
        })
    }

    /// The time at which the batch's requests and results were deleted.
    pub async fn expired_at(
        &self,
        tenant: TenantId,
        id: BatchId,
    ) -> Result<Option<Micros>, StoreError> {
        let at = sqlx::query_scalar!(
            "select expired_at from batches where tenant_id = $1 and id = $2",
            tenant.0,
            id.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(at.flatten().map(Micros::from_datetime))
    }

    /// The settings of a batch, as they were pinned.
    pub async fn batch_settings(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<String, StoreError> {
        sqlx::query_scalar!(
            "select settings from batches where tenant_id = $1 and id = $2",
            tenant.0,
            batch.0,
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("batch"))
    }

    /// The batch that was announced under an idempotency key, with the hash of that call.
    pub async fn batch_by_idempotency_key(
        &self,
        tenant: TenantId,
        key: &str,
    ) -> Result<Option<(BatchId, Digest)>, StoreError> {
        let row = sqlx::query!(
            "select id, call_hash from batches where tenant_id = $1 and idempotency_key = $2",
            tenant.0,
            key,
        )
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| {
            let hash = stored_digest(row.call_hash.as_deref().unwrap_or_default())?;
            Ok((BatchId(row.id), hash))
        })
        .transpose()
    }
}
