//! Requests as rows: what came in, what the plugin logged, what its stages left.

use assay_api::request::LogLine;
use assay_core::id::{RequestId, TenantId};
use assay_core::outcome::Artifact;
use assay_core::time::Micros;

use super::{Store, StoreError};

pub struct StoredRequest {
    pub key: String,
    pub group: Option<String>,
    /// A serialised `assay.worker.v1.Body`.
    pub body: Vec<u8>,
    pub arrived_at: Micros,
}

impl Store {
    pub async fn request(
        &self,
        tenant: TenantId,
        id: RequestId,
    ) -> Result<StoredRequest, StoreError> {
        let row = sqlx::query!(
            "select key, group_name, body, arrived_at from requests
            where tenant_id = $1 and batch_id = $2 and seq = $3",
            tenant.0,
            id.batch.0,
            id.seq.cast_signed(),
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("request"))?;
        Ok(StoredRequest {
            key: row.key,
            group: row.group_name,
            body: row.body,
            arrived_at: Micros::from_datetime(row.arrived_at),
        })
    }

    pub async fn logs(&self, tenant: TenantId, id: RequestId) -> Result<Vec<LogLine>, StoreError> {
        let rows = sqlx::query!(
            "select stage, level, message from logs
            where tenant_id = $1 and batch_id = $2 and seq = $3 order by line limit 10000",
            tenant.0,
            id.batch.0,
            id.seq.cast_signed(),
        )
        .fetch_all(&self.pool)
        .await?;
        let lines = rows.into_iter().map(|row| LogLine {
            stage: row.stage,
            level: row.level,
            message: row.message,
        });
        Ok(lines.collect())
    }

    /// The artifact that a stage (numbered from 0) of a request returned for the next stage.
    pub async fn artifact(
        &self,
        tenant: TenantId,
        id: RequestId,
        stage: usize,
    ) -> Result<Artifact, StoreError> {
        let row = sqlx::query!(
            "select content_type, bytes from artifacts
            where tenant_id = $1 and batch_id = $2 and seq = $3 and stage = $4",
            tenant.0,
            id.batch.0,
            id.seq.cast_signed(),
            i16::try_from(stage).unwrap_or(i16::MAX),
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("artifact"))?;
        Ok(Artifact { content_type: row.content_type, bytes: row.bytes })
    }
}
