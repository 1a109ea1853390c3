//! Results as they were written: what trainers get.

use assay_core::id::{BatchId, RequestId, TenantId};
use bytes::Bytes;

use super::summaries::integer;
use super::{Store, StoreError};

impl Store {
    /// The results after position `after`, in the order of completion, as JSON with their positions. These have no gap,
    /// so that `limit` of them end at a known one. [`StoreError::Expired`] once retention may have deleted some.
    pub async fn results(
        &self,
        tenant: TenantId,
        batch: BatchId,
        after: u32,
        limit: u32,
    ) -> Result<Vec<(u32, Bytes)>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select position as "position!", result as "result!"
            from all_results
            where tenant_id = $1 and batch_id = $2 and position > $3 and position <= $4
                and last_position > $3 and first_position <= $4
            order by position
            "#,
            tenant.0,
            batch.0,
            integer(after),
            integer(after.saturating_add(limit)),
        )
        .fetch_all(&self.pool)
        .await?;
        // A batch expires before anything of it is deleted, so that all were there when it is not expired now.
        if let Some(at) = self.expired_at(tenant, batch).await? {
            return Err(StoreError::Expired(at));
        }
        Ok(rows.into_iter().map(|row| (row.position.cast_unsigned(), row.result.into())).collect())
    }

    /// The result of one request, as JSON, once it has one.
    pub async fn result(
        &self,
        tenant: TenantId,
        request: RequestId,
    ) -> Result<Option<String>, StoreError> {
        let result = sqlx::query_scalar!(
            r#"
            select result as "result!" from outcome_of($1, $2, $3) limit 1
            "#,
            tenant.0,
            request.batch.0,
            request.seq.cast_signed(),
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(result)
    }
}
