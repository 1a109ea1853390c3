//! What tenants used: bytes that are kept, and what workers did, by day and pool. Both are sums that
//! the group commits keep up, never counts over rows.

use std::collections::BTreeMap;

use assay_model::id::{BatchId, TenantId};
use assay_model::tenant::DayUsage;
use assay_model::time::Micros;
use time::Date;
use uuid::Uuid;

use super::{Store, StoreError};

/// What a batch used of one pool.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRow {
    pub pool: String,
    /// That ran on it.
    pub requests: u32,
    pub worker_seconds: f64,
    pub cost: f64,
}

/// Bytes that a commit adds, a row a tenant.
#[derive(Default)]
pub(super) struct StoredColumns {
    pub tenant: Vec<Uuid>,
    pub bytes: Vec<i64>,
}

impl StoredColumns {
    /// In the tenants' order, in which every statement locks their rows.
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

/// What ended batches used, as the columns of one statement.
#[derive(Default)]
pub(super) struct UsageColumns<'a> {
    pub tenant: Vec<Uuid>,
    pub batch: Vec<Uuid>,
    pub day: Vec<Date>,
    pub pool: Vec<&'a str>,
    pub requests: Vec<i64>,
    pub worker_seconds: Vec<f64>,
    pub cost: Vec<f64>,
}

impl<'a> UsageColumns<'a> {
    pub(super) fn push(
        &mut self,
        (tenant, batch): (TenantId, BatchId),
        ended_at: Micros,
        rows: &'a [UsageRow],
    ) {
        for row in rows {
            self.tenant.push(tenant.0);
            self.batch.push(batch.0);
            self.day.push(ended_at.to_datetime().date());
            self.pool.push(&row.pool);
            self.requests.push(row.requests.into());
            self.worker_seconds.push(row.worker_seconds);
            self.cost.push(row.cost);
        }
    }
}

impl Store {
    /// What the tenant's requests, artifacts, results and logs hold.
    pub async fn stored_bytes(&self, tenant: TenantId) -> Result<u64, StoreError> {
        let bytes = sqlx::query_scalar!(
            r#"select coalesce(sum(bytes), 0)::bigint as "bytes!" from stored_bytes where tenant_id = $1"#,
            tenant.0,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(u64::try_from(bytes).unwrap_or(0))
    }

    /// What workers did for batches that ended since a day, the latest day first.
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
