//! Incidents of the running service. The table belongs to the platform; a tenant sees only its own incidents.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use assay_api::acknowledgement::Acknowledgement;
use assay_api::operations::{Incident, IncidentFilter, IncidentKind, IncidentPage};
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;
use time::OffsetDateTime;

use super::audit::OF_THE_PLATFORM;
use super::retention::delete_in_pieces;
use super::summaries::integer;
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

/// The incidents that a caller sees beside those of its own tenant. A caller that sees none is a tenant, and is not told who of
/// the platform acknowledged an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    Nothing,
    Platform,
    /// The platform's and those of all other tenants.
    All,
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

    /// The latest first. `wanted` is not materialized, so that each part is read by an index and has its own limit.
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
            with wanted as not materialized (
                select * from incidents
                where ($4::timestamptz is null or at >= $4) and ($5::timestamptz is null or at < $5)
                    and ($6::text is null or kind = $6) and ($7::bigint is null or id < $7)
                    and ($10::text is null or run = $10)
                    and (not $9 or not exists (
                        select 1 from acknowledged_incidents a
                        where a.tenant_id = coalesce(incidents.tenant_id, '00000000-0000-0000-0000-000000000000')
                            and a.kind = incidents.kind and a.pool = coalesce(incidents.pool, '')
                            and a.run = coalesce(incidents.run, '') and a.code = coalesce(incidents.code, '')
                            and a.until >= incidents.at
                    ))
            )
            select i.id as "id!", i.at as "at!", t.name as "tenant?", i.kind as "kind!", i.pool,
                i.batch_id, i.run, i.code, i.count as "count!", i.detail as "detail!",
                a.at as "acknowledged_at?", a.until as "acknowledged_until?",
                case when $2 or a.by_in_tenant = a.by then a.by end as "acknowledged_by?"
            from (
                (select * from wanted where tenant_id = $1 order by id desc limit $8)
                union all
                (select * from wanted where $2 and tenant_id is null order by id desc limit $8)
                union all
                (select * from wanted where $3 and tenant_id <> $1 order by id desc limit $8)
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
}

/// The acknowledgement that a row has, if any.
fn acknowledgement(
    at: Option<OffsetDateTime>,
    by: Option<String>,
    until: Option<OffsetDateTime>,
) -> Option<Acknowledgement> {
    Some(Acknowledgement {
        at: Micros::from_datetime(at?),
        by: by.unwrap_or_else(|| OF_THE_PLATFORM.into()),
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
