//! Bounds of pools that were set while the server ran. They are the platform's, not a tenant's.

use assay_core::time::Micros;

use serde_json::json;

use super::audit::{Act, Actor, audit};
use super::{Store, StoreError};

/// The worker bounds that an administrator set for one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapacityRow {
    pub pool: String,
    pub min: u32,
    pub max: u32,
    pub set_at: Micros,
}

impl Store {
    pub async fn capacity(&self) -> Result<Vec<CapacityRow>, StoreError> {
        let rows = sqlx::query!(
            "select pool, workers_min, workers_max, set_at from capacity order by pool"
        )
        .fetch_all(&self.pool)
        .await?;
        let count = |count: i32| u32::try_from(count).unwrap_or(0);
        let rows = rows.into_iter().map(|row| CapacityRow {
            pool: row.pool,
            min: count(row.workers_min),
            max: count(row.workers_max),
            set_at: Micros::from_datetime(row.set_at),
        });
        Ok(rows.collect())
    }

    pub async fn set_capacity(&self, row: &CapacityRow, actor: &Actor) -> Result<(), StoreError> {
        let count = |count: u32| i32::try_from(count).expect("within the limit of a pool");
        let mut transaction = self.pool.begin().await?;
        let before = sqlx::query!(
            "select workers_min, workers_max from capacity where pool = $1 for update",
            row.pool,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        sqlx::query!(
            "insert into capacity (pool, workers_min, workers_max, set_at)
            values ($1, $2, $3, $4)
            on conflict (pool) do update
            set workers_min = excluded.workers_min, workers_max = excluded.workers_max,
                set_at = excluded.set_at",
            row.pool,
            count(row.min),
            count(row.max),
            row.set_at.to_datetime(),
        )
        .execute(&mut *transaction)
        .await?;
        let act = Act {
            tenant: None,
            actor,
            action: "capacity.set",
            subject: row.pool.clone(),
            before: before.map(|row| json!({ "min": row.workers_min, "max": row.workers_max })),
            after: Some(json!({ "min": row.min, "max": row.max })),
        };
        audit(&mut transaction, row.set_at, &act).await?;
        transaction.commit().await?;
        Ok(())
    }
}
