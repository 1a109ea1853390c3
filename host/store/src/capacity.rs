//! Bounds of pools that were set while the server ran, and samples of the pools' workers over time. They are the
//! platform's, not a tenant's.

use assay_api::operations::{CapacitySample, PlanDecision};
use assay_core::limits;
use assay_core::time::Micros;
use serde_json::json;

use super::audit::{Act, Actor, audit};
use super::retention::delete_in_pieces;
use super::summaries::integer;
use super::{Store, StoreError};

/// The worker bounds that an administrator set for one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapacityRow {
    pub pool: String,
    pub min: u32,
    pub max: u32,
    pub set_at: Micros,
}

/// How a pool stood, and what was planned for it.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacitySampleRow {
    pub pool: String,
    pub sample: CapacitySample,
    /// Why the plan is what it is; there when the plan's numbers are.
    pub reason: Option<String>,
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

    pub async fn insert_capacity_sample(&self, row: &CapacitySampleRow) -> Result<(), StoreError> {
        let sample = &row.sample;
        sqlx::query!(
            "insert into capacity_samples (pool, at, demand, zero_queue, hold, ceiling, starting,
                idle, busy, draining, queued, cost, reason)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            on conflict (pool, at) do nothing",
            row.pool,
            sample.at.to_datetime(),
            integer(sample.demand),
            sample.zero_queue.map(integer),
            sample.hold.map(integer),
            sample.ceiling.map(integer),
            integer(sample.starting),
            integer(sample.idle),
            integer(sample.busy),
            integer(sample.draining),
            integer(sample.queued),
            sample.cost,
            row.reason,
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// How pools stood from one time to another, in the order of pool and time: as many parts of that
    /// time as there may be points, and of each the most.
    pub async fn capacity_samples(
        &self,
        pools: &[String],
        from: Micros,
        to: Micros,
    ) -> Result<Vec<CapacitySampleRow>, StoreError> {
        let part =
            (to.since(from).as_secs_f64() / f64::from(limits::CAPACITY_POINTS_MAX)).max(1e-6);
        let rows = sqlx::query!(
            r#"
            select pool, min(at) as "at!", max(demand) as "demand!", max(zero_queue) as zero_queue,
                max(hold) as hold, max(ceiling) as ceiling, max(starting) as "starting!",
                max(idle) as "idle!", max(busy) as "busy!", max(draining) as "draining!",
                max(queued) as "queued!", max(cost) as "cost!"
            from capacity_samples
            where pool = any ($1) and at >= $2 and at < $3
            group by pool, date_bin(make_interval(secs => $4::double precision), at, $2)
            order by pool, 2
            "#,
            pools,
            from.to_datetime(),
            to.to_datetime(),
            part,
        )
        .fetch_all(&self.pool)
        .await?;
        let rows = rows.into_iter().map(|row| CapacitySampleRow {
            pool: row.pool,
            sample: CapacitySample {
                at: Micros::from_datetime(row.at),
                demand: row.demand.cast_unsigned(),
                zero_queue: row.zero_queue.map(i32::cast_unsigned),
                hold: row.hold.map(i32::cast_unsigned),
                ceiling: row.ceiling.map(i32::cast_unsigned),
                starting: row.starting.cast_unsigned(),
                idle: row.idle.cast_unsigned(),
                busy: row.busy.cast_unsigned(),
                draining: row.draining.cast_unsigned(),
                queued: row.queued.cast_unsigned(),
                cost: row.cost,
            },
            reason: None,
        });
        Ok(rows.collect())
    }

    /// The latest changes of a pool's target within a time, the latest first.
    pub async fn plan_decisions(
        &self,
        pool: &str,
        from: Micros,
        to: Micros,
    ) -> Result<Vec<PlanDecision>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select at, hold as "hold!", ceiling as "ceiling!", reason as "reason!", hold_before,
                ceiling_before
            from (
                select at, hold, ceiling, reason, lag(hold) over earlier as hold_before,
                    lag(ceiling) over earlier as ceiling_before
                from capacity_samples
                where pool = $1 and at >= $2 and at < $3 and hold is not null
                window earlier as (order by at)
            ) as samples
            where (hold, ceiling) is distinct from (hold_before, ceiling_before)
            order by at desc limit $4
            "#,
            pool,
            from.to_datetime(),
            to.to_datetime(),
            i64::from(limits::PLAN_DECISIONS_MAX),
        )
        .fetch_all(&self.pool)
        .await?;
        let decisions = rows.into_iter().map(|row| PlanDecision {
            at: Micros::from_datetime(row.at),
            hold: row.hold.cast_unsigned(),
            ceiling: row.ceiling.cast_unsigned(),
            hold_before: row.hold_before.map(i32::cast_unsigned),
            ceiling_before: row.ceiling_before.map(i32::cast_unsigned),
            why: row.reason,
        });
        Ok(decisions.collect())
    }

    /// Deletes samples before `before`, a piece at a time.
    pub async fn forget_capacity_samples(&self, before: Micros) -> Result<u64, StoreError> {
        delete_in_pieces(|limit| async move {
            sqlx::query!(
                "delete from capacity_samples where (pool, at) in (
                    select pool, at from capacity_samples where at < $1 order by at limit $2
                )",
                before.to_datetime(),
                limit,
            )
            .execute(&self.upkeep)
            .await
        })
        .await
    }
}
