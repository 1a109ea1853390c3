//! Tenants: what bounds them, what is granted to them, how long their things are kept.

use assay_api::tenant::{Grants, Quotas, Retention, Tenant, TenantSettings};
use assay_core::id::TenantId;
use assay_core::time::Micros;
use serde_json::{Value, json};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::audit::{Act, Actor, audit};
use super::listed::ListedRows;
use super::{Store, StoreError};

const EVERY: ListedRows<String> = ListedRows { text: None, after: None, limit: 10_000 };

struct TenantRow {
    id: Uuid,
    name: String,
    created_at: OffsetDateTime,
    display_name: String,
    weight: i32,
    share_runs: bool,
    suspended_at: Option<OffsetDateTime>,
    workers_max: String,
    open_batches_max: Option<i32>,
    requests_per_minute_max: Option<i32>,
    stored_bytes_max: Option<i64>,
    gpu: bool,
    toolchains: Option<Vec<String>>,
    hosts: Vec<String>,
    results_days: Option<i32>,
    history_days: Option<i32>,
}

impl TenantRow {
    fn into_tenant(self) -> Tenant {
        let count = |count: Option<i32>| count.map(i32::cast_unsigned);
        Tenant {
            id: TenantId(self.id),
            name: self.name,
            created_at: Micros::from_datetime(self.created_at),
            suspended_at: self.suspended_at.map(Micros::from_datetime),
            settings: TenantSettings {
                display_name: self.display_name,
                weight: self.weight.cast_unsigned(),
                share_runs: self.share_runs,
                suspended: self.suspended_at.is_some(),
                quotas: Quotas {
                    workers_max: serde_json::from_str(&self.workers_max).unwrap_or_default(),
                    open_batches_max: count(self.open_batches_max),
                    requests_per_minute_max: count(self.requests_per_minute_max),
                    stored_bytes_max: self.stored_bytes_max.map(i64::cast_unsigned),
                },
                grants: Grants { gpu: self.gpu, toolchains: self.toolchains, hosts: self.hosts },
                retention: Retention {
                    results_days: count(self.results_days),
                    history_days: count(self.history_days),
                },
            },
            storage_roots: Vec::new(),
        }
    }
}

impl Store {
    /// Makes a tenant; its name must be free.
    pub async fn create_tenant(
        &self,
        name: &str,
        settings: &TenantSettings,
        actor: &Actor,
        now: Micros,
    ) -> Result<Tenant, StoreError> {
        let id = TenantId::generate();
        let mut transaction = self.pool.begin().await?;
        let inserted = sqlx::query!(
            "insert into tenants (id, name, created_at) values ($1, $2, $3)
            on conflict on constraint tenants_name_unique do nothing",
            id.0,
            name,
            now.to_datetime(),
        )
        .execute(&mut *transaction)
        .await?;
        if inserted.rows_affected() == 0 {
            return Err(StoreError::Conflict(format!("there is a tenant called `{name}` already")));
        }
        let suspended_at = settings.suspended.then_some(now);
        write(&mut transaction, id, settings, suspended_at).await?;
        let act = Act {
            tenant: Some(id),
            actor,
            action: "tenant.create",
            subject: name.into(),
            before: None,
            after: Some(json!(settings)),
        };
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(Tenant {
            id,
            name: name.into(),
            created_at: now,
            suspended_at,
            settings: settings.clone(),
            storage_roots: Vec::new(),
        })
    }

    /// Changes a tenant's settings from those in `before`; the caller must prevent concurrent changes.
    pub async fn set_tenant(
        &self,
        before: &Tenant,
        settings: &TenantSettings,
        actor: &Actor,
        now: Micros,
    ) -> Result<Tenant, StoreError> {
        let suspended_at = settings.suspended.then(|| before.suspended_at.unwrap_or(now));
        let mut transaction = self.pool.begin().await?;
        write(&mut transaction, before.id, settings, suspended_at).await?;
        for (action, was, is) in changes(&before.settings, settings) {
            let act = Act {
                tenant: Some(before.id),
                actor,
                action,
                subject: before.name.clone(),
                before: Some(was),
                after: Some(is),
            };
            audit(&mut transaction, now, &act).await?;
        }
        transaction.commit().await?;
        Ok(Tenant { suspended_at, settings: settings.clone(), ..before.clone() })
    }

    pub async fn tenant_by_name(&self, name: &str) -> Result<Tenant, StoreError> {
        self.read_tenants(Some(name), &EVERY).await?.pop().ok_or(StoreError::NotFound("tenant"))
    }

    pub async fn tenant_name(&self, tenant: TenantId) -> Result<String, StoreError> {
        sqlx::query_scalar!("select name from tenants where id = $1", tenant.0)
            .fetch_optional(&self.pool)
            .await?
            .ok_or(StoreError::NotFound("tenant"))
    }

    /// Every tenant, for a starting dispatcher and for retention.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.read_tenants(None, &EVERY).await
    }

    /// A page of tenants by name, for the platform's administrators.
    pub async fn tenants_listed(
        &self,
        page: &ListedRows<String>,
    ) -> Result<Vec<Tenant>, StoreError> {
        self.read_tenants(None, page).await
    }

    async fn read_tenants(
        &self,
        name: Option<&str>,
        page: &ListedRows<String>,
    ) -> Result<Vec<Tenant>, StoreError> {
        let rows = sqlx::query_as!(
            TenantRow,
            r#"
            select id, name, created_at, display_name, weight, share_runs, suspended_at,
                workers_max::text as "workers_max!", open_batches_max, requests_per_minute_max,
                stored_bytes_max, gpu, toolchains, hosts, results_days, history_days
            from tenants where ($1::text is null or name = $1) and name > $2
                and ($3::text is null or position(lower($3) in lower(name)) > 0
                    or position(lower($3) in lower(display_name)) > 0)
            order by name limit $4
            "#,
            name,
            page.after.as_deref().unwrap_or_default(),
            page.text.as_deref(),
            i64::from(page.limit),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(TenantRow::into_tenant).collect())
    }
}

async fn write(
    connection: &mut PgConnection,
    tenant: TenantId,
    settings: &TenantSettings,
    suspended_at: Option<Micros>,
) -> Result<(), StoreError> {
    let TenantSettings {
        display_name,
        weight,
        share_runs,
        quotas,
        grants,
        retention,
        suspended: _,
    } = settings;
    let workers_max = serde_json::to_string(&quotas.workers_max).expect("numbers by name");
    let count = |count: Option<u32>| count.map(u32::cast_signed);
    sqlx::query!(
        "update tenants set display_name = $2, weight = $3, suspended_at = $4,
            workers_max = $5::text::json, open_batches_max = $6, requests_per_minute_max = $7,
            stored_bytes_max = $8, gpu = $9, toolchains = $10, results_days = $11,
            history_days = $12, hosts = $13, share_runs = $14
        where id = $1",
        tenant.0,
        display_name,
        weight.cast_signed(),
        suspended_at.map(Micros::to_datetime),
        workers_max,
        count(quotas.open_batches_max),
        count(quotas.requests_per_minute_max),
        quotas.stored_bytes_max.map(u64::cast_signed),
        grants.gpu,
        grants.toolchains.as_deref(),
        count(retention.results_days),
        count(retention.history_days),
        &grants.hosts,
        *share_runs,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The changed settings: for each one an action of the audit log, the old and the new value.
fn changes(was: &TenantSettings, is: &TenantSettings) -> Vec<(&'static str, Value, Value)> {
    let suspend = if is.suspended { "tenant.suspend" } else { "tenant.resume" };
    let all = [
        ("tenant.rename", json!(was.display_name), json!(is.display_name)),
        ("weight.set", json!(was.weight), json!(is.weight)),
        ("share_runs.set", json!(was.share_runs), json!(is.share_runs)),
        (suspend, json!(was.suspended), json!(is.suspended)),
        ("quota.set", json!(was.quotas), json!(is.quotas)),
        ("grant.set", json!(was.grants), json!(is.grants)),
        ("retention.set", json!(was.retention), json!(is.retention)),
    ];
    all.into_iter().filter(|(_, was, is)| was != is).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_an_act_each() {
        let was = TenantSettings::default();
        let mut is = TenantSettings { weight: 3, share_runs: true, suspended: true, ..was.clone() };
        is.quotas.open_batches_max = Some(2);
        let changes = changes(&was, &is);
        let actions: Vec<_> = changes.iter().map(|(action, ..)| *action).collect();
        assert_eq!(actions, ["weight.set", "share_runs.set", "tenant.suspend", "quota.set"]);
        assert_eq!(changes[3].1, json!({}));
        assert_eq!(changes[3].2, json!({ "open_batches_max": 2 }));
        assert!(super::changes(&is, &is).is_empty());
        assert_eq!(super::changes(&is, &was)[2].0, "tenant.resume");
    }
}
