//! Tenants.

use assay_model::api::Tenant;
use assay_model::id::TenantId;
use assay_model::time::Micros;

use super::{Store, StoreError};

impl Store {
    /// Makes a tenant; its name must be free.
    pub async fn create_tenant(&self, name: &str, now: Micros) -> Result<Tenant, StoreError> {
        let id = TenantId::generate();
        let inserted = sqlx::query!(
            "insert into tenants (id, name, created_at) values ($1, $2, $3)
            on conflict on constraint tenants_name_unique do nothing",
            id.0,
            name,
            now.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        if inserted.rows_affected() == 0 {
            return Err(StoreError::Conflict(format!("there is a tenant called `{name}` already")));
        }
        Ok(Tenant { id, name: name.into(), created_at: now })
    }

    pub async fn tenant_by_name(&self, name: &str) -> Result<Tenant, StoreError> {
        let row = sqlx::query!("select id, name, created_at from tenants where name = $1", name)
            .fetch_optional(&self.pool)
            .await?
            .ok_or(StoreError::NotFound("tenant"))?;
        Ok(Tenant {
            id: TenantId(row.id),
            name: row.name,
            created_at: Micros::from_datetime(row.created_at),
        })
    }

    pub async fn tenant_name(&self, tenant: TenantId) -> Result<String, StoreError> {
        sqlx::query_scalar!("select name from tenants where id = $1", tenant.0)
            .fetch_optional(&self.pool)
            .await?
            .ok_or(StoreError::NotFound("tenant"))
    }

    /// For the platform's administrators: every tenant.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        let rows =
            sqlx::query!("select id, name, created_at from tenants order by name limit 10000")
                .fetch_all(&self.pool)
                .await?;
        let tenants = rows.into_iter().map(|row| Tenant {
            id: TenantId(row.id),
            name: row.name,
            created_at: Micros::from_datetime(row.created_at),
        });
        Ok(tenants.collect())
    }
}
