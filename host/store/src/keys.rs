//! API keys. Only the hashes of a key's secrets are kept.

use assay_api::key::{Key, Scope};
use assay_api::people::Role;
use assay_core::id::{Digest, KeyId, PersonId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use serde_json::{Value, json};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::audit::{Act, Actor, audit};
use super::listed::ListedRows;
use super::{Store, StoreError};

/// The row that a call with a key is checked against.
#[derive(Debug, Clone)]
pub struct KeyRow {
    pub id: KeyId,
    pub name: String,
    pub tenant: TenantId,
    pub tenant_name: String,
    pub secret_hash: Digest,
    /// The secret before the last rotation, and until when it works.
    pub previous: Option<(Digest, Micros)>,
    pub scopes: Vec<Scope>,
    pub plugins: Option<Vec<String>>,
    pub expires_at: Option<Micros>,
    pub revoked_at: Option<Micros>,
    pub last_used_at: Option<Micros>,
    /// The person whose key it is; absent for a key of the tenant.
    pub owner: Option<KeyOwner>,
}

/// The person who made a key for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOwner {
    pub person: PersonId,
    /// The person's role in the key's tenant; absent if they are no member or may not sign in.
    pub role: Option<Role>,
}

pub struct NewKey<'a> {
    pub tenant: TenantId,
    pub name: &'a str,
    pub prefix: &'a str,
    pub secret_hash: Digest,
    pub scopes: &'a [Scope],
    pub plugins: Option<&'a [String]>,
    pub created_at: Micros,
    pub expires_at: Option<Micros>,
    /// The person whose key it is; absent for a key of the tenant.
    pub person: Option<PersonId>,
}

impl NewKey<'_> {
    fn scopes(&self) -> Vec<String> {
        self.scopes.iter().map(|scope| scope.as_str().into()).collect()
    }

    /// A key without its secret and its hash.
    fn shown(&self) -> Value {
        json!({
            "name": self.name,
            "prefix": self.prefix,
            "scopes": self.scopes(),
            "plugins": self.plugins,
            "expires_at": self.expires_at,
            "person": self.person,
        })
    }
}

/// A key's new secret, and until when the one before it works.
pub struct Rotation {
    pub secret_hash: Digest,
    pub at: Micros,
    pub previous_until: Micros,
}

struct ListedRow {
    id: Uuid,
    tenant: String,
    name: String,
    prefix: String,
    scopes: Vec<String>,
    plugins: Option<Vec<String>>,
    created_at: OffsetDateTime,
    expires_at: Option<OffsetDateTime>,
    revoked_at: Option<OffsetDateTime>,
    last_used_at: Option<OffsetDateTime>,
    previous_until: Option<OffsetDateTime>,
    person: Option<String>,
}

impl ListedRow {
    fn into_key(self, now: Micros) -> Key {
        let previous = self.previous_until.map(Micros::from_datetime);
        Key {
            id: KeyId(self.id),
            tenant: self.tenant,
            name: self.name,
            prefix: self.prefix,
            scopes: scopes(&self.scopes),
            plugins: self.plugins,
            created_at: Micros::from_datetime(self.created_at),
            expires_at: self.expires_at.map(Micros::from_datetime),
            revoked_at: self.revoked_at.map(Micros::from_datetime),
            last_used_at: self.last_used_at.map(Micros::from_datetime),
            previous_secret_until: previous.filter(|&until| until > now),
            person: self.person,
            secret: None,
        }
    }
}

fn scopes(names: &[String]) -> Vec<Scope> {
    names.iter().filter_map(|scope| Scope::parse(scope)).collect()
}

/// The digest of 32 bytes. Any other length gives zeros, which no key's digest equals.
fn digest(bytes: &[u8]) -> Digest {
    Digest::try_from(bytes).unwrap_or(Digest([0; 32]))
}

impl Store {
    pub async fn create_key(&self, key: NewKey<'_>, actor: &Actor) -> Result<KeyId, StoreError> {
        let id = KeyId::generate();
        let scopes = key.scopes();
        let mut transaction = self.pool.begin().await?;
        if let Some(person) = key.person {
            check_personal_keys(&mut transaction, key.tenant, person, key.created_at).await?;
        }
        sqlx::query!(
            "insert into keys (tenant_id, id, name, prefix, secret_hash, scopes, created_at, expires_at,
                plugins, person_id)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            key.tenant.0,
            id.0,
            key.name,
            key.prefix,
            &key.secret_hash.0[..],
            &scopes,
            key.created_at.to_datetime(),
            key.expires_at.map(Micros::to_datetime),
            key.plugins,
            key.person.map(|person| person.0),
        )
        .execute(&mut *transaction)
        .await?;
        let act = Act {
            tenant: Some(key.tenant),
            actor,
            action: "key.create",
            subject: id.to_string(),
            before: None,
            after: Some(key.shown()),
        };
        audit(&mut transaction, key.created_at, &act).await?;
        transaction.commit().await?;
        Ok(id)
    }

    /// The key with this prefix. This query takes no tenant: authentication comes before any tenant is
    /// known.
    pub async fn key_by_prefix(&self, prefix: &str) -> Result<Option<KeyRow>, StoreError> {
        let row = sqlx::query!(
            r#"select k.id, k.name, k.tenant_id, t.name as tenant_name, k.secret_hash,
                k.previous_hash, k.previous_until, k.scopes, k.plugins, k.expires_at, k.revoked_at,
                k.last_used_at, k.person_id, m.role as "role?", p.disabled_at as "disabled_at?"
            from keys k join tenants t on t.id = k.tenant_id
            left join people p on p.id = k.person_id
            left join members m on m.tenant_id = k.tenant_id and m.person_id = k.person_id
            where k.prefix = $1"#,
            prefix,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| KeyRow {
            id: KeyId(row.id),
            name: row.name,
            tenant: TenantId(row.tenant_id),
            tenant_name: row.tenant_name,
            secret_hash: digest(&row.secret_hash),
            previous: row
                .previous_hash
                .zip(row.previous_until)
                .map(|(hash, until)| (digest(&hash), Micros::from_datetime(until))),
            scopes: scopes(&row.scopes),
            plugins: row.plugins,
            expires_at: row.expires_at.map(Micros::from_datetime),
            revoked_at: row.revoked_at.map(Micros::from_datetime),
            last_used_at: row.last_used_at.map(Micros::from_datetime),
            owner: row.person_id.map(|person| KeyOwner {
                person: PersonId(person),
                role: row
                    .role
                    .filter(|_| row.disabled_at.is_none())
                    .and_then(|role| Role::parse(&role)),
            }),
        }))
    }

    /// Says that a key was used, unless that was said a moment ago.
    pub async fn touch_key(
        &self,
        tenant: TenantId,
        id: KeyId,
        now: Micros,
    ) -> Result<(), StoreError> {
        let before = now.since(Micros::from_secs(limits::KEY_USE_SECONDS));
        sqlx::query!(
            "update keys set last_used_at = $3 where tenant_id = $1 and id = $2
            and (last_used_at is null or last_used_at < $4)",
            tenant.0,
            id.0,
            now.to_datetime(),
            before.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The keys of a tenant, or only those of one person in it.
    pub async fn keys(
        &self,
        tenant: TenantId,
        person: Option<PersonId>,
        page: &ListedRows<KeyId>,
        now: Micros,
    ) -> Result<Vec<Key>, StoreError> {
        let rows = sqlx::query_as!(
            ListedRow,
            r#"select k.id, t.name as tenant, k.name, k.prefix, k.scopes, k.plugins, k.created_at,
                k.expires_at, k.revoked_at, k.last_used_at, k.previous_until, p.email as "person?"
            from keys k join tenants t on t.id = k.tenant_id left join people p on p.id = k.person_id
            where k.tenant_id = $1 and ($2::uuid is null or k.id > $2)
                and ($3::text is null or position(lower($3) in lower(k.name)) > 0
                    or position(lower($3) in lower(k.prefix)) > 0)
                and ($5::uuid is null or k.person_id = $5)
            order by k.id limit $4"#,
            tenant.0,
            page.after.map(|after| after.0),
            page.text.as_deref(),
            i64::from(page.limit),
            person.map(|person| person.0),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(|row| row.into_key(now)).collect())
    }

    pub async fn key(&self, tenant: TenantId, id: KeyId, now: Micros) -> Result<Key, StoreError> {
        let row = sqlx::query_as!(
            ListedRow,
            r#"select k.id, t.name as tenant, k.name, k.prefix, k.scopes, k.plugins, k.created_at,
                k.expires_at, k.revoked_at, k.last_used_at, k.previous_until, p.email as "person?"
            from keys k join tenants t on t.id = k.tenant_id left join people p on p.id = k.person_id
            where k.tenant_id = $1 and k.id = $2"#,
            tenant.0,
            id.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.ok_or(StoreError::NotFound("key"))?.into_key(now))
    }

    /// Whether a key of the tenant is this person's own.
    pub async fn is_key_of(
        &self,
        tenant: TenantId,
        id: KeyId,
        person: PersonId,
    ) -> Result<bool, StoreError> {
        let found = sqlx::query_scalar!(
            r#"select person_id = $3 as "is_theirs?" from keys where tenant_id = $1 and id = $2"#,
            tenant.0,
            id.0,
            person.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(found.flatten().unwrap_or(false))
    }

    /// Revokes a key; doing it again changes nothing.
    pub async fn revoke_key(
        &self,
        tenant: TenantId,
        id: KeyId,
        actor: &Actor,
        now: Micros,
    ) -> Result<Key, StoreError> {
        let mut transaction = self.pool.begin().await?;
        let revoked = sqlx::query!(
            "update keys set revoked_at = $3
            where tenant_id = $1 and id = $2 and revoked_at is null returning name, prefix",
            tenant.0,
            id.0,
            now.to_datetime(),
        )
        .fetch_optional(&mut *transaction)
        .await?;
        if let Some(revoked) = revoked {
            let act = Act {
                tenant: Some(tenant),
                actor,
                action: "key.revoke",
                subject: id.to_string(),
                before: Some(json!({ "name": revoked.name, "prefix": revoked.prefix })),
                after: None,
            };
            audit(&mut transaction, now, &act).await?;
            transaction.commit().await?;
        } else {
            // Its connection is for whoever waits for one, and the next line may.
            transaction.rollback().await?;
        }
        self.key(tenant, id, now).await
    }

    /// Gives a key that works another secret. One that was rotated before has two secrets at most:
    /// the one before the last ends now.
    pub async fn rotate_key(
        &self,
        tenant: TenantId,
        id: KeyId,
        rotation: &Rotation,
        actor: &Actor,
    ) -> Result<Key, StoreError> {
        let mut transaction = self.pool.begin().await?;
        rotate(&mut transaction, tenant, id, rotation).await?;
        let act = Act {
            tenant: Some(tenant),
            actor,
            action: "key.rotate",
            subject: id.to_string(),
            before: None,
            after: Some(json!({ "previous_secret_until": rotation.previous_until })),
        };
        audit(&mut transaction, rotation.at, &act).await?;
        transaction.commit().await?;
        self.key(tenant, id, rotation.at).await
    }
}

/// Refuses a personal key of somebody who is no member, or who has as many as there may be. Other calls of
/// that person wait until this transaction ends.
async fn check_personal_keys(
    connection: &mut PgConnection,
    tenant: TenantId,
    person: PersonId,
    now: Micros,
) -> Result<(), StoreError> {
    let member = sqlx::query_scalar!(
        "select role from members where tenant_id = $1 and person_id = $2 for update",
        tenant.0,
        person.0,
    );
    if member.fetch_optional(&mut *connection).await?.is_none() {
        return Err(StoreError::NotFound("member"));
    }
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from keys where person_id = $2 and tenant_id = $1
            and revoked_at is null and (expires_at is null or expires_at > $3)"#,
        tenant.0,
        person.0,
        now.to_datetime(),
    );
    if count.fetch_one(connection).await? >= limits::PERSONAL_KEYS_MAX {
        let most = limits::PERSONAL_KEYS_MAX;
        return Err(StoreError::Conflict(format!("you have {most} keys; revoke one first")));
    }
    Ok(())
}

async fn rotate(
    connection: &mut PgConnection,
    tenant: TenantId,
    id: KeyId,
    rotation: &Rotation,
) -> Result<(), StoreError> {
    let rotated = sqlx::query!(
        "update keys set previous_hash = secret_hash, previous_until = $4, secret_hash = $5
        where tenant_id = $1 and id = $2 and revoked_at is null
            and (expires_at is null or expires_at > $3)",
        tenant.0,
        id.0,
        rotation.at.to_datetime(),
        rotation.previous_until.to_datetime(),
        &rotation.secret_hash.0[..],
    )
    .execute(connection)
    .await?;
    if rotated.rows_affected() == 0 {
        return Err(StoreError::Conflict("the key works no longer; make another".into()));
    }
    Ok(())
}
