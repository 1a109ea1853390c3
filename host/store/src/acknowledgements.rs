//! Acknowledged incidents: a row for each tenant, kind, pool, run and code, with the time up to which its
//! incidents are seen.

use assay_api::acknowledgement::Acknowledgement;
use assay_core::id::TenantId;
use assay_core::time::Micros;

use super::audit::Actor;
use super::operations::Beside;
use super::retention::delete_in_pieces;
use super::{Store, StoreError};

/// An incident that is acknowledged by somebody who may see those of `tenant` and `beside`.
#[derive(Debug, Clone, Copy)]
pub struct VisibleIncident<'a> {
    pub tenant: TenantId,
    pub beside: Beside,
    pub incident: i64,
    pub at: Micros,
    /// How long after now incidents like it are acknowledged too; with 0, those up to the incident itself alone.
    pub mute: Micros,
    pub by: &'a Actor,
}

impl Store {
    /// Acknowledges an incident and those like it. A second time replaces the first.
    pub async fn acknowledge_incident(
        &self,
        seen: VisibleIncident<'_>,
    ) -> Result<Acknowledgement, StoreError> {
        let by = name(seen.by);
        let until = sqlx::query_scalar!(
            r#"
            insert into acknowledged_incidents (
                tenant_id, kind, pool, run, code, until, at, by, by_in_tenant
            )
            select coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'), kind, coalesce(pool, ''),
                coalesce(run, ''), coalesce(code, ''),
                case when $6::double precision = 0 then at
                    else greatest(at, $5) + make_interval(secs => $6::double precision) end,
                $5, $7, case when tenant_id = $8 then $7 end
            from incidents
            where id = $1 and (tenant_id = $2 or ($3 and tenant_id is null) or $4)
            on conflict (tenant_id, kind, pool, run, code)
                do update set until = excluded.until, at = excluded.at, by = excluded.by,
                    by_in_tenant = excluded.by_in_tenant
            returning until
            "#,
            seen.incident,
            seen.tenant.0,
            seen.beside != Beside::Nothing,
            seen.beside == Beside::All,
            seen.at.to_datetime(),
            seen.mute.as_secs_f64(),
            by,
            seen.by.tenant(),
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("incident"))?;
        Ok(Acknowledgement { at: seen.at, by, until: Micros::from_datetime(until) })
    }

    /// Takes the acknowledgement of an incident back, with that of those like it; doing it again changes
    /// nothing.
    pub async fn reopen_incident(
        &self,
        tenant: TenantId,
        beside: Beside,
        incident: i64,
    ) -> Result<(), StoreError> {
        let found = sqlx::query_scalar!(
            r#"
            with incident as (
                select * from incidents
                where id = $1 and (tenant_id = $2 or ($3 and tenant_id is null) or $4)
            ), reopened as (
                delete from acknowledged_incidents a using incident i
                where a.tenant_id = coalesce(i.tenant_id, '00000000-0000-0000-0000-000000000000')
                    and a.kind = i.kind and a.pool = coalesce(i.pool, '')
                    and a.run = coalesce(i.run, '') and a.code = coalesce(i.code, '')
            )
            select id from incident
            "#,
            incident,
            tenant.0,
            beside != Beside::Nothing,
            beside == Beside::All,
        )
        .fetch_optional(&self.pool)
        .await?;
        found.map(drop).ok_or(StoreError::NotFound("incident"))
    }

    /// Deletes acknowledgements that ended before `before`, a piece at a time.
    pub async fn forget_acknowledgements(&self, before: Micros) -> Result<u64, StoreError> {
        delete_in_pieces(|limit| async move {
            sqlx::query!(
                "delete from acknowledged_incidents where (tenant_id, kind, pool, run, code) in (
                    select tenant_id, kind, pool, run, code from acknowledged_incidents
                    where until < $1 order by until limit $2
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

fn name(actor: &Actor) -> String {
    match actor {
        Actor::Key { name, .. } if name.is_empty() => "a key without a name".into(),
        Actor::Key { name, .. } => name.clone(),
        Actor::Person { email, .. } => email.clone(),
        Actor::Platform => "the platform".into(),
    }
}
