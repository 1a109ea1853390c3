//! Incidents of the running service, and samples of the pools' workers over time. Both tables belong to the
//! platform; a tenant sees only its own incidents.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use assay_api::acknowledgement::Acknowledgement;
use assay_api::operations::{
    CapacitySample, Incident, IncidentFilter, IncidentKind, IncidentPage, PlanDecision,
};
use assay_core::id::{BatchId, TenantId, WorkerId};
use assay_core::limits;
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;
use serde_json::json;
use time::OffsetDateTime;

use super::audit::{Act, Actor, audit};
use super::retention::delete_in_pieces;
use super::{Store, StoreError};

/// An incident to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncidentRow {
    pub at: Micros,
    /// `None` is the platform.
    pub tenant: Option<TenantId>,
    pub kind: IncidentKind,
    pub pool: Option<String>,
    pub batch: Option<BatchId>,
    pub run: Option<String>,
    pub code: Option<ErrorCode>,
    pub count: u32,
    pub detail: String,
}

/// The incidents that a caller sees beside those of its own tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    Nothing,
    Platform,
    /// The platform's and those of all other tenants.
    All,
}

/// How a pool stood, and what was planned for it.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRow {
    pub pool: String,
    pub sample: CapacitySample,
    /// Why the plan is what it is; there when the plan's numbers are.
    pub reason: Option<String>,
}

fn integer(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

impl Store {
    pub async fn insert_incident(&self, row: &IncidentRow) -> Result<i64, StoreError> {
        let id = sqlx::query_scalar!(
            "insert into incidents (at, tenant_id, kind, pool, batch_id, run, code, count, detail)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id",
            row.at.to_datetime(),
            row.tenant.map(|tenant| tenant.0),
            row.kind.as_str(),
            row.pool,
            row.batch.map(|batch| batch.0),
            row.run,
            row.code.map(ErrorCode::as_str),
            integer(row.count),
            // Postgres keeps no NUL in text.
            row.detail.replace('\0', "\u{fffd}"),
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(id)
    }

    /// Counts an incident that happened again; returns the number of times so far.
    pub async fn add_to_incident(&self, id: i64, row: &IncidentRow) -> Result<u32, StoreError> {
        let count = sqlx::query_scalar!(
            "update incidents set at = greatest(at, $2), detail = $3,
                count = least(count::bigint + $4, 2147483647)::integer
            where id = $1 returning count",
            id,
            row.at.to_datetime(),
            row.detail.replace('\0', "\u{fffd}"),
            i64::from(row.count),
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("incident"))?;
        Ok(count.cast_unsigned())
    }

    /// The latest first. Each part is read by an index and has its own limit.
    pub async fn incidents(
        &self,
        tenant: TenantId,
        beside: Beside,
        filter: &IncidentFilter,
    ) -> Result<IncidentPage, StoreError> {
        let limit = filter.limit.unwrap_or(limits::INCIDENT_ITEMS_DEFAULT);
        let limit = limit.clamp(1, limits::INCIDENT_ITEMS_MAX);
        let rows = sqlx::query!(
            r#"
            select i.id as "id!", i.at as "at!", t.name as "tenant?", i.kind as "kind!", i.pool,
                i.batch_id, i.run, i.code, i.count as "count!", i.detail as "detail!",
                a.at as "acknowledged_at?", a.by as "acknowledged_by?", a.until as "acknowledged_until?"
            from (
                (select * from incidents where tenant_id = $1
                    and ($4::timestamptz is null or at >= $4) and ($5::timestamptz is null or at < $5)
                    and ($6::text is null or kind = $6) and ($7::bigint is null or id < $7)
                    and ($10::text is null or run = $10)
                    and (not $9 or not exists (
                        select 1 from acknowledged_incidents a
                        where a.tenant_id = coalesce(incidents.tenant_id, '00000000-0000-0000-0000-000000000000')
                            and a.kind = incidents.kind and a.pool = coalesce(incidents.pool, '')
                            and a.run = coalesce(incidents.run, '') and a.code = coalesce(incidents.code, '')
                            and a.until >= incidents.at
                    ))
                order by id desc limit $8)
                union all
                (select * from incidents where $2 and tenant_id is null
                    and ($4::timestamptz is null or at >= $4) and ($5::timestamptz is null or at < $5)
                    and ($6::text is null or kind = $6) and ($7::bigint is null or id < $7)
                    and ($10::text is null or run = $10)
                    and (not $9 or not exists (
                        select 1 from acknowledged_incidents a
                        where a.tenant_id = coalesce(incidents.tenant_id, '00000000-0000-0000-0000-000000000000')
                            and a.kind = incidents.kind and a.pool = coalesce(incidents.pool, '')
                            and a.run = coalesce(incidents.run, '') and a.code = coalesce(incidents.code, '')
                            and a.until >= incidents.at
                    ))
                order by id desc limit $8)
                union all
                (select * from incidents where $3 and tenant_id <> $1
                    and ($4::timestamptz is null or at >= $4) and ($5::timestamptz is null or at < $5)
                    and ($6::text is null or kind = $6) and ($7::bigint is null or id < $7)
                    and ($10::text is null or run = $10)
                    and (not $9 or not exists (
                        select 1 from acknowledged_incidents a
                        where a.tenant_id = coalesce(incidents.tenant_id, '00000000-0000-0000-0000-000000000000')
                            and a.kind = incidents.kind and a.pool = coalesce(incidents.pool, '')
                            and a.run = coalesce(incidents.run, '') and a.code = coalesce(incidents.code, '')
                            and a.until >= incidents.at
                    ))
                order by id desc limit $8)
            ) i left join tenants t on t.id = i.tenant_id
            left join acknowledged_incidents a
                on a.tenant_id = coalesce(i.tenant_id, '00000000-0000-0000-0000-000000000000')
                and a.kind = i.kind and a.pool = coalesce(i.pool, '') and a.run = coalesce(i.run, '')
                and a.code = coalesce(i.code, '') and a.until >= i.at
            order by i.id desc limit $8
            "#,
            tenant.0,
            beside != Beside::Nothing,
            beside == Beside::All,
            filter.from.map(Micros::to_datetime),
            filter.to.map(Micros::to_datetime),
            filter.kind.map(IncidentKind::as_str),
            filter.after,
            i64::from(limit),
            filter.open,
            filter.run,
        )
        .fetch_all(&self.pool)
        .await?;
        let full = rows.len() == limit as usize;
        let next = rows.last().filter(|_| full).map(|last| last.id);
        let items = rows.into_iter().filter_map(|row| {
            Some(Incident {
                id: row.id,
                at: Micros::from_datetime(row.at),
                tenant: row.tenant,
                // A later server may know of more.
                kind: IncidentKind::parse(&row.kind)?,
                pool: row.pool,
                batch: row.batch_id.map(BatchId),
                run: row.run,
                code: row.code,
                count: row.count.cast_unsigned(),
                detail: row.detail,
                acknowledged: acknowledgement(
                    row.acknowledged_at,
                    row.acknowledged_by,
                    row.acknowledged_until,
                ),
            })
        });
        Ok(IncidentPage { items: items.collect(), next })
    }

    /// The last incidents, as one for each tenant, kind, pool, run and code. The latest first.
    pub async fn grouped_incidents(
        &self,
        tenant: TenantId,
        beside: Beside,
        filter: &IncidentFilter,
    ) -> Result<IncidentPage, StoreError> {
        let read = IncidentFilter { limit: Some(limits::INCIDENTS_GROUPED_MAX), ..filter.clone() };
        let latest = self.incidents(tenant, beside, &read).await?.items;
        let mut items = group(latest);
        items.truncate(filter.limit.unwrap_or(limits::INCIDENT_ITEMS_DEFAULT).max(1) as usize);
        Ok(IncidentPage { items, next: None })
    }

    /// Deletes incidents before `before`, a piece at a time; returns how many those were.
    pub async fn forget_incidents(&self, before: Micros) -> Result<u64, StoreError> {
        delete_in_pieces(|limit| async move {
            sqlx::query!(
                "delete from incidents where id in (
                    select id from incidents where at < $1 order by at limit $2
                )",
                before.to_datetime(),
                limit,
            )
            .execute(&self.upkeep)
            .await
        })
        .await
    }

    pub async fn insert_sample(&self, row: &SampleRow) -> Result<(), StoreError> {
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
    ) -> Result<Vec<SampleRow>, StoreError> {
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
        let rows = rows.into_iter().map(|row| SampleRow {
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
    pub async fn forget_samples(&self, before: Micros) -> Result<u64, StoreError> {
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

    /// Notes that somebody drains a worker, before it is done: what follows is in no table.
    pub async fn note_drain(
        &self,
        worker: WorkerId,
        pool: &str,
        actor: &Actor,
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        let act = Act {
            tenant: None,
            actor,
            action: "worker.drain",
            subject: worker.0.to_string(),
            before: None,
            after: Some(json!({ "pool": pool })),
        };
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(())
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

    /// Completed batches of a run up to this one, the latest first: each with its requests.
    pub async fn batches_up_to(
        &self,
        tenant: TenantId,
        run: &str,
        ended_by: Micros,
        limit: u32,
    ) -> Result<Vec<(BatchId, u32)>, StoreError> {
        let rows = sqlx::query!(
            "select batch_id, requests from batch_history
            where tenant_id = $1 and run = $2 and ended_at <= $3
            order by ended_at desc, batch_id limit $4",
            tenant.0,
            run,
            ended_by.to_datetime(),
            i64::from(limit),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| (BatchId(row.batch_id), row.requests.cast_unsigned()))
            .collect())
    }
}

/// The acknowledgement that a row has, if any.
fn acknowledgement(
    at: Option<OffsetDateTime>,
    by: Option<String>,
    until: Option<OffsetDateTime>,
) -> Option<Acknowledgement> {
    Some(Acknowledgement {
        at: Micros::from_datetime(at?),
        by: by?,
        until: Micros::from_datetime(until?),
    })
}

/// Adds each incident to the latest one of its kind. The latest come first, and stay so.
fn group(latest: Vec<Incident>) -> Vec<Incident> {
    let mut groups: Vec<Incident> = Vec::new();
    let mut places = HashMap::new();
    for incident in latest {
        let Incident { tenant, kind, pool, run, code, .. } = &incident;
        let key = (tenant.clone(), *kind, pool.clone(), run.clone(), code.clone());
        match places.entry(key) {
            Entry::Vacant(free) => {
                free.insert(groups.len());
                groups.push(incident);
            }
            Entry::Occupied(place) => {
                let first = &mut groups[*place.get()];
                first.count = first.count.saturating_add(incident.count);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incident(id: i64, kind: IncidentKind, run: Option<&str>, count: u32) -> Incident {
        Incident {
            id,
            at: Micros::from_secs(id.unsigned_abs()),
            tenant: run.map(|_| "ours".into()),
            kind,
            pool: run.is_none().then(|| "cpu".into()),
            batch: None,
            run: run.map(Into::into),
            code: None,
            count,
            detail: format!("incident {id}"),
            acknowledged: None,
        }
    }

    #[test]
    fn a_noisy_run_is_one_item_and_hides_no_other() {
        let late = |id, run| incident(id, IncidentKind::BatchLate, Some(run), 1);
        let mut latest: Vec<Incident> = (10..30).rev().map(|id| late(id, "noisy")).collect();
        latest.push(incident(9, IncidentKind::WorkerDied, None, 2));
        latest.push(late(8, "other"));
        latest.push(incident(7, IncidentKind::WorkerDied, None, 3));
        let groups = group(latest);
        let told: Vec<_> = groups.iter().map(|group| (group.id, group.count)).collect();
        assert_eq!(told, [(29, 20), (9, 5), (8, 1)]);
        assert_eq!(groups[0].detail, "incident 29");
    }
}
