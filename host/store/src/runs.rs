//! Runs: what a training run keeps from its first batch on.

use assay_core::id::{Digest, TenantId};
use assay_core::time::Micros;

use super::plugins::stored_digest;
use super::{Store, StoreError};

/// The plugin version and settings of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    pub plugin: String,
    pub version: String,
    pub digest: Digest,
    /// JSON text.
    pub settings: String,
}

impl Store {
    pub async fn run(&self, tenant: TenantId, name: &str) -> Result<Option<RunRow>, StoreError> {
        let row = sqlx::query!(
            "select plugin, version, digest, settings from runs where tenant_id = $1 and name = $2",
            tenant.0,
            name,
        )
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| {
            Ok(RunRow {
                plugin: row.plugin,
                version: row.version,
                digest: stored_digest(&row.digest)?,
                settings: row.settings,
            })
        })
        .transpose()
    }

    /// Pins what a run uses, unless an earlier call did; returns what is pinned.
    pub async fn pin_run(
        &self,
        tenant: TenantId,
        name: &str,
        wanted: RunRow,
        now: Micros,
    ) -> Result<RunRow, StoreError> {
        sqlx::query!(
            "insert into runs (tenant_id, name, plugin, version, digest, settings, created_at)
            values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
            tenant.0,
            name,
            wanted.plugin,
            wanted.version,
            &wanted.digest.0[..],
            wanted.settings,
            now.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        Ok(self.run(tenant, name).await?.unwrap_or(wanted))
    }
}
