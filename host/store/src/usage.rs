//! Usage of tenants: bytes that are stored, and work by day and pool. Both are sums that the group
//! commits keep up to date, never counts over rows.

use std::collections::BTreeMap;

use assay_api::tenant::DayUsage;
use assay_core::id::TenantId;
use assay_core::time::Micros;
use sqlx::PgConnection;
use time::Date;
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

/// The same, and adds up usage as well: `$usage` is a `UsageColumns`, bound as `$2` to `$7`.
macro_rules! insert_counted_with_usage {
    ($writer:literal, $with:tt, $usage:expr, $($parameters:tt)*) => {
        insert_counted!(
            $writer,
            [$with + ", used as (
                insert into usage (tenant_id, day, pool, writer, requests, worker_seconds, cost)
                select tenant_id, day, pool, $1, sum(requests), sum(worker_seconds), sum(cost)
                from unnest(
                    $2::uuid[], $3::date[], $4::text[], $5::bigint[], $6::double precision[],
                    $7::double precision[]
                ) as u (tenant_id, day, pool, requests, worker_seconds, cost)
                group by tenant_id, day, pool
                on conflict (tenant_id, day, pool, writer) do update set
                    requests = usage.requests + excluded.requests,
                    worker_seconds = usage.worker_seconds + excluded.worker_seconds,
                    cost = usage.cost + excluded.cost
            )"],
            &$usage.tenant,
            &$usage.day,
            &$usage.pool as _,
            &$usage.requests,
            &$usage.worker_seconds,
            &$usage.cost,
            $($parameters)*
        )
    };
}
pub(super) use insert_counted_with_usage;

/// The usage of batches that end.
#[derive(Default)]
pub(super) struct UsageColumns<'a> {
    pub tenant: Vec<Uuid>,
    pub day: Vec<Date>,
    pub pool: Vec<&'a str>,
    pub requests: Vec<i64>,
    pub worker_seconds: Vec<f64>,
    pub cost: Vec<f64>,
}

impl<'a> UsageColumns<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.tenant.is_empty()
    }

    pub(super) fn push(&mut self, tenant: TenantId, ended_at: Micros, rows: &'a [UsageRow]) {
        for row in rows {
            self.tenant.push(tenant.0);
            self.day.push(ended_at.to_datetime().date());
            self.pool.push(&row.pool);
            self.requests.push(row.requests.into());
            self.worker_seconds.push(row.worker_seconds);
            self.cost.push(row.cost);
        }
    }

    /// Adds all of it for the writer of outcomes; stores no bytes.
    pub(super) async fn add(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        insert_counted_with_usage!(
            "outcomes",
            "added as (select null::uuid as tenant_id, 0 as bytes where false)",
            self,
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}

impl Store {
    /// The bytes of the tenant's requests, artifacts, results and logs.
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
