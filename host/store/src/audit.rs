//! Administrative acts: written in the transaction of what they tell of, never changed, deleted
//! when they are old. No secret and no hash ever stands in one.

use assay_api::audit::{AuditActor, AuditEntry, AuditFilter, AuditPage};
use assay_core::id::{KeyId, PersonId, TenantId, WorkerId};
use assay_core::limits;
use assay_core::time::Micros;
use serde_json::{Value, json};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::retention::delete_in_pieces;
use super::{Store, StoreError};

/// The text that a tenant reads in the place of a key or person of the platform.
pub(super) const OF_THE_PLATFORM: &str = "an administrator of the platform";

/// The key or person that acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    Key {
        id: KeyId,
        name: String,
        tenant: TenantId,
    },
    Person {
        id: PersonId,
        email: String,
        /// The tenant in which the person acts: that of the session.
        tenant: Option<TenantId>,
    },
    /// The server itself, or the command line on its own data.
    Platform,
}

impl Actor {
    fn kind(&self) -> &'static str {
        match self {
            Self::Key { .. } => "key",
            Self::Person { .. } => "person",
            Self::Platform => "platform",
        }
    }

    fn id(&self) -> Option<Uuid> {
        match self {
            Self::Key { id, .. } => Some(id.0),
            Self::Person { id, .. } => Some(id.0),
            Self::Platform => None,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Key { name, .. } => name,
            Self::Person { email, .. } => email,
            Self::Platform => "platform",
        }
    }

    /// The tenant in which it acts, where there is one.
    pub(super) fn tenant(&self) -> Option<Uuid> {
        match self {
            Self::Key { tenant, .. } => Some(tenant.0),
            Self::Person { tenant, .. } => tenant.map(|tenant| tenant.0),
            Self::Platform => None,
        }
    }
}

/// The side that reads acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditReader {
    Platform,
    /// A tenant sees that the platform acted, but not who of it.
    Tenant,
}

/// One act, with what it changed.
#[derive(Debug, Clone)]
pub struct Act<'a> {
    /// The tenant whose data was changed; `None` for the platform's data.
    pub tenant: Option<TenantId>,
    pub actor: &'a Actor,
    /// Noun and verb, such as `key.revoke`.
    pub action: &'static str,
    /// The name or id of what was changed.
    pub subject: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// Writes an act to the audit log. The caller's transaction must be that of the change itself.
pub(crate) async fn audit(
    connection: &mut PgConnection,
    at: Micros,
    act: &Act<'_>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into audit (
            at, tenant_id, actor_kind, actor_id, actor_name, actor_tenant_id, action, subject,
            before, after
        ) values ($1, $2, $3, $4, $5, $6, $7, $8, $9::text::json, $10::text::json)",
        at.to_datetime(),
        act.tenant.map(|tenant| tenant.0),
        act.actor.kind(),
        act.actor.id(),
        act.actor.name(),
        act.actor.tenant(),
        act.action,
        act.subject,
        act.before.as_ref().map(Value::to_string),
        act.after.as_ref().map(Value::to_string),
    )
    .execute(connection)
    .await?;
    Ok(())
}

struct EntryRow {
    id: i64,
    at: OffsetDateTime,
    tenant: Option<String>,
    actor_kind: String,
    actor_id: Option<Uuid>,
    actor_name: String,
    actor_tenant: Option<String>,
    is_foreign: bool,
    action: String,
    subject: String,
    before: Option<String>,
    after: Option<String>,
}

impl EntryRow {
    fn actor(&self, reader: AuditReader) -> AuditActor {
        if reader == AuditReader::Tenant && self.is_foreign {
            return AuditActor {
                kind: "platform".into(),
                id: None,
                name: OF_THE_PLATFORM.into(),
                tenant: None,
            };
        }
        AuditActor {
            kind: self.actor_kind.clone(),
            id: self.actor_id.map(|id| id.to_string()),
            name: self.actor_name.clone(),
            tenant: self.actor_tenant.clone(),
        }
    }
}

/// The latest entries where the condition holds. An actor is foreign that acted in another tenant than the changed one;
/// where it was not noted, one that is no member of it. An act that a tenant found by its actor would tell who that is.
/// A plan serves all calls of a query, so that the one
/// which looks up a tenant's entries is not the one which reads everybody's.
macro_rules! entries_where {
    ($pool:expr, $condition:literal, $tenant:expr, $reader:expr, $filter:expr, $limit:expr) => {
        sqlx::query_as!(
            EntryRow,
            r#"
            select a.id, a.at, t.name as "tenant?", a.actor_kind, a.actor_id, a.actor_name,
                k.name as "actor_tenant?", o.is_foreign as "is_foreign!", a.action, a.subject,
                a.before::text as before, a.after::text as after
            from audit a
            left join tenants t on t.id = a.tenant_id
            left join tenants k on k.id = a.actor_tenant_id
            cross join lateral (
                select coalesce(
                    a.actor_tenant_id <> a.tenant_id,
                    a.actor_kind = 'person' and not exists (
                        select 1 from members m
                        where m.tenant_id = a.tenant_id and m.person_id = a.actor_id
                    )
                ) as is_foreign
            ) o
            where "#
                + $condition
                + r#"
                and ($2::text is null or a.action = $2)
                and ($3::text is null or (a.actor_name = $3 or a.actor_id::text = $3)
                    and ($7::boolean or not o.is_foreign))
                and ($4::timestamptz is null or a.at >= $4)
                and ($5::bigint is null or a.id < $5)
            order by a.id desc limit $6
            "#,
            $tenant,
            $filter.action.as_deref(),
            $filter.actor.as_deref(),
            $filter.since.map(Micros::to_datetime),
            $filter.before,
            i64::from($limit),
            $reader == AuditReader::Platform,
        )
        .fetch_all($pool)
        .await?
    };
}

fn value(json: &str) -> Option<Value> {
    serde_json::from_str(json).ok()
}

impl Store {
    /// The latest acts first. `tenant` bounds what is seen; without it the platform's
    /// administrators see all.
    pub async fn audit(
        &self,
        tenant: Option<TenantId>,
        reader: AuditReader,
        filter: &AuditFilter,
    ) -> Result<AuditPage, StoreError> {
        let limit =
            filter.limit.unwrap_or(limits::AUDIT_ITEMS_DEFAULT).clamp(1, limits::AUDIT_ITEMS_MAX);
        let rows = match tenant {
            Some(tenant) => {
                let tenant = Some(tenant.0);
                entries_where!(&self.pool, "a.tenant_id = $1", tenant, reader, filter, limit)
            }
            None => {
                let tenant = None::<Uuid>;
                entries_where!(&self.pool, "$1::uuid is null", tenant, reader, filter, limit)
            }
        };
        let full = rows.len() == limit as usize;
        let items = rows.into_iter().map(|row| AuditEntry {
            id: row.id,
            at: Micros::from_datetime(row.at),
            actor: row.actor(reader),
            tenant: row.tenant,
            action: row.action,
            subject: row.subject,
            before: row.before.as_deref().and_then(value),
            after: row.after.as_deref().and_then(value),
        });
        let items: Vec<_> = items.collect();
        let next = items.last().filter(|_| full).map(|last| last.id);
        Ok(AuditPage { items, next })
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

    /// Deletes acts before `before`, a piece at a time; returns how many those were.
    pub async fn forget_audit(&self, before: Micros) -> Result<u64, StoreError> {
        delete_in_pieces(|limit| async move {
            sqlx::query!(
                "delete from audit where id in (
                    select id from audit where at < $1 order by at limit $2
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
