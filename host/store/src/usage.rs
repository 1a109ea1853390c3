//! Usage of tenants: bytes that are stored, and work by day and pool. Both are sums that the group
//! commits keep up to date, never counts over rows.

use std::collections::BTreeMap;

use assay_api::tenant::DayUsage;
use assay_core::id::{BatchId, TenantId};
use assay_core::time::Micros;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Store, StoreError};

/// The work that a batch made on one pool.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRow {
    pub pool: String,
    /// Requests that ran on it.
    pub requests: u32,
    pub worker_seconds: f64,
    pub cost: f64,
}

/// The bytes that a commit stores, one row for each tenant.
#[derive(Default)]
pub(super) struct StoredColumns {
    pub tenant: Vec<Uuid>,
    pub bytes: Vec<i64>,
}

impl StoredColumns {
    pub(super) fn sum(rows: impl Iterator<Item = (TenantId, usize)>) -> Self {
        let mut sums: BTreeMap<TenantId, i64> = BTreeMap::new();
        for (tenant, bytes) in rows {
            let bytes = i64::try_from(bytes).expect("a commit is within its limit");
            *sums.entry(tenant).or_default() += bytes;
        }
        let mut columns = Self::default();
        for (tenant, bytes) in sums.into_iter().filter(|(_, bytes)| *bytes > 0) {
            columns.tenant.push(tenant.0);
            columns.bytes.push(bytes);
        }
        columns
    }
}

/// Adds the component of a plugin to the stored bytes.
pub(super) async fn add_component(
    connection: &mut PgConnection,
    tenant: TenantId,
    bytes: u64,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into stored_bytes (tenant_id, writer, bytes) values ($1, 'plugins', $2)
        on conflict (tenant_id, writer)
        do update set bytes = stored_bytes.bytes + excluded.bytes",
        tenant.0,
        bytes.cast_signed(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes a checked query that also adds up stored bytes. `$with` are `with` queries; the one named
/// `added` has rows with `tenant_id` and `bytes`. Their sums go to the rows of `$writer` in
/// `stored_bytes`, bound as `$1`. Each writer has rows of its own, so that no group commit waits for
/// another's lock.
macro_rules! insert_counted {
    ($writer:literal, [$($with:tt)*], $($parameters:tt)*) => {
        sqlx::query!(
            "with " + $($with)* + "
            insert into stored_bytes (tenant_id, writer, bytes)
            select tenant_id, $1, sum(bytes) from added group by tenant_id
            on conflict (tenant_id, writer)
            do update set bytes = stored_bytes.bytes + excluded.bytes",
            $writer,
            $($parameters)*
        )
    };
}
pub(super) use insert_counted;

/// The usage of a batch that ends on one pool, as JSON for a query: fields are named as the columns.
#[derive(Serialize)]
pub(super) struct UsageJson<'a> {
    pub tenant_id: Uuid,
    pub batch_id: Uuid,
    pub day: String,
    pub pool: &'a str,
    pub requests: u32,
    pub worker_seconds: f64,
    pub cost: f64,
}

impl UsageRow {
    pub(super) fn json(&self, tenant: TenantId, batch: BatchId, ended_at: Micros) -> UsageJson<'_> {
        UsageJson {
            tenant_id: tenant.0,
            batch_id: batch.0,
            day: ended_at.to_datetime().date().to_string(),
            pool: &self.pool,
            requests: self.requests,
            worker_seconds: self.worker_seconds,
            cost: self.cost,
        }
    }
}

impl Store {
    /// The bytes of the tenant's requests, artifacts, results, logs and components of plugins.
    pub async fn stored_bytes(&self, tenant: TenantId) -> Result<u64, StoreError> {
        let bytes = sqlx::query_scalar!(
            r#"select coalesce(sum(bytes), 0)::bigint as "bytes!" from stored_bytes where tenant_id = $1"#,
            tenant.0,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(u64::try_from(bytes).unwrap_or(0))
    }

    /// The usage of batches that ended on or after the day of `since`, the latest day first.
    pub async fn usage(
        &self,
        tenant: TenantId,
        since: Micros,
    ) -> Result<Vec<DayUsage>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select day, pool, sum(requests)::bigint as "requests!",
                sum(worker_seconds) as "worker_seconds!", sum(cost) as "cost!"
            from usage where tenant_id = $1 and day >= $2
            group by day, pool order by day desc, pool limit 100000
            "#,
            tenant.0,
            since.to_datetime().date(),
        )
        .fetch_all(&self.pool)
        .await?;
        let days = rows.into_iter().map(|row| DayUsage {
            day: row.day.to_string(),
            pool: row.pool,
            requests: row.requests.cast_unsigned(),
            worker_seconds: row.worker_seconds,
            cost: row.cost,
        });
        Ok(days.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_summed_by_tenant_in_their_order() {
        let (one, other) = (TenantId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)));
        let rows = [(other, 5), (one, 3), (other, 7), (TenantId(Uuid::nil()), 0)];
        let columns = StoredColumns::sum(rows.into_iter());
        assert_eq!(columns.tenant, [one.0, other.0]);
        assert_eq!(columns.bytes, [3, 12]);
    }
}
