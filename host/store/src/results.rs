//! Results as they were written: what trainers get.

use assay_core::id::{BatchId, RequestId, TenantId};
use bytes::Bytes;

use super::{Store, StoreError};

impl Store {
    /// The results after position `after`, in the order of completion, as JSON with their positions.
    pub async fn results(
        &self,
        tenant: TenantId,
        batch: BatchId,
        after: u32,
        limit: u32,
    ) -> Result<Vec<(u32, Bytes)>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select position, result::text as "result!"
            from outcomes
            where tenant_id = $1 and batch_id = $2 and position > $3
            order by position
            limit $4
            "#,
            tenant.0,
            batch.0,
            after.cast_signed(),
            i64::from(limit),
        )
        .fetch_all(&self.pool)
        .await?;
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
            select result::text as "result!" from outcomes
            where tenant_id = $1 and batch_id = $2 and seq = $3
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
