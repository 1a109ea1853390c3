//! API keys. Only the hash of a key is kept.

use assay_model::api::{Key, Scope};
use assay_model::id::{Digest, KeyId, TenantId};
use assay_model::time::Micros;

use super::{Store, StoreError};

/// What a call with a key is checked against.
#[derive(Debug, Clone)]
pub struct KeyRow {
    pub tenant: TenantId,
    pub tenant_name: String,
    pub secret_hash: Digest,
    pub scopes: Vec<Scope>,
    pub expires_at: Option<Micros>,
    pub revoked_at: Option<Micros>,
}

pub struct NewKey<'a> {
    pub tenant: TenantId,
    pub name: &'a str,
    pub prefix: &'a str,
    pub secret_hash: Digest,
    pub scopes: &'a [Scope],
    pub created_at: Micros,
    pub expires_at: Option<Micros>,
}

impl Store {
    pub async fn create_key(&self, key: NewKey<'_>) -> Result<KeyId, StoreError> {
        let id = KeyId::generate();
        let scopes: Vec<String> = key.scopes.iter().map(|scope| scope.as_str().into()).collect();
        sqlx::query!(
            "insert into keys (tenant_id, id, name, prefix, secret_hash, scopes, created_at, expires_at)
            values ($1, $2, $3, $4, $5, $6, $7, $8)",
            key.tenant.0,
            id.0,
            key.name,
            key.prefix,
            &key.secret_hash.0[..],
            &scopes,
            key.created_at.to_datetime(),
            key.expires_at.map(Micros::to_datetime),
        )
        .execute(&self.pool)
        .await?;
        Ok(id)
    }

    /// For authentication, which comes before any tenant is known: the key with this prefix.
    pub async fn key_by_prefix(&self, prefix: &str) -> Result<Option<KeyRow>, StoreError> {
        let row = sqlx::query!(
            "select k.tenant_id, t.name as tenant_name, k.secret_hash, k.scopes, k.expires_at, k.revoked_at
            from keys k join tenants t on t.id = k.tenant_id
            where k.prefix = $1",
            prefix,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| KeyRow {
            tenant: TenantId(row.tenant_id),
            tenant_name: row.tenant_name,
            secret_hash: Digest::try_from(&row.secret_hash[..]).unwrap_or(Digest([0; 32])),
            scopes: row.scopes.iter().filter_map(|scope| Scope::parse(scope)).collect(),
            expires_at: row.expires_at.map(Micros::from_datetime),
            revoked_at: row.revoked_at.map(Micros::from_datetime),
        }))
    }

    pub async fn keys(&self, tenant: TenantId) -> Result<Vec<Key>, StoreError> {
        let rows = sqlx::query!(
            "select k.id, t.name as tenant, k.name, k.prefix, k.scopes, k.created_at, k.expires_at, k.revoked_at
            from keys k join tenants t on t.id = k.tenant_id
            where k.tenant_id = $1 order by k.id limit 10000",
            tenant.0,
        )
        .fetch_all(&self.pool)
        .await?;
        let keys = rows.into_iter().map(|row| Key {
            id: KeyId(row.id),
            tenant: row.tenant,
            name: row.name,
            prefix: row.prefix,
            scopes: row.scopes.iter().filter_map(|scope| Scope::parse(scope)).collect(),
            created_at: Micros::from_datetime(row.created_at),
            expires_at: row.expires_at.map(Micros::from_datetime),
            revoked_at: row.revoked_at.map(Micros::from_datetime),
            secret: None,
        });
        Ok(keys.collect())
    }

    /// Revokes a key and returns its prefix; doing it again changes nothing.
    pub async fn revoke_key(
        &self,
        tenant: TenantId,
        id: KeyId,
        now: Micros,
    ) -> Result<String, StoreError> {
        sqlx::query_scalar!(
            "update keys set revoked_at = coalesce(revoked_at, $3)
            where tenant_id = $1 and id = $2 returning prefix",
            tenant.0,
            id.0,
            now.to_datetime(),
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("key"))
    }
}
