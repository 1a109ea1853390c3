//! Sessions of people who signed in, and what belongs to the person of one. A session is looked
//! up for every call: who is disabled, or a member no longer, has none from that moment on.

use assay_api::people::{Membership, Role};
use assay_core::id::{Digest, PersonId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;

use super::{Store, StoreError};

/// The row that a call with a session's cookie is checked against.
#[derive(Debug, Clone)]
pub struct SessionRow {
    pub person: PersonId,
    pub email: String,
    pub name: String,
    pub tenant: TenantId,
    pub tenant_name: String,
    pub role: Role,
    pub used_at: Micros,
    pub expires_at: Micros,
}

/// A session that begins.
#[derive(Debug, Clone, Copy)]
pub struct NewSession<'a> {
    pub token_hash: Digest,
    pub person: PersonId,
    /// The tenant in which it begins.
    pub tenant: &'a str,
    /// The hash of the password that the person proved to know; `None` if somebody else vouches for the person.
    pub password_hash: Option<&'a str>,
}

/// The time since which a session must have been used to be still valid.
fn idle_since(now: Micros) -> Micros {
    now.since(Micros::from_secs(limits::SESSION_IDLE_SECONDS_MAX))
}

impl Store {
    /// Begins a session of a member, and deletes the sessions that have ended. False if the person may not sign in, or
    /// has another password than the one that was proved.
    pub async fn create_session(
        &self,
        session: &NewSession<'_>,
        now: Micros,
    ) -> Result<bool, StoreError> {
        let NewSession { token_hash, person, tenant, password_hash } = *session;
        let mut transaction = self.pool.begin().await?;
        // The lock makes a change of the password wait, which then deletes this session as well.
        let may_sign_in = sqlx::query_scalar!(
            "select id from people
            where id = $1 and disabled_at is null and ($2::text is null or password_hash = $2)
            for share",
            person.0,
            password_hash,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        if may_sign_in.is_none() {
            return Ok(false);
        }
        sqlx::query!(
            "delete from sessions where expires_at <= $1 or token_hash = any (array(
                select token_hash from sessions where person_id = $2
                order by (used_at > $3) desc, created_at desc offset $4
            ))",
            now.to_datetime(),
            person.0,
            idle_since(now).to_datetime(),
            i64::from(limits::SESSIONS_PER_PERSON_MAX - 1),
        )
        .execute(&mut *transaction)
        .await?;
        let expires_at = now + Micros::from_secs(limits::SESSION_SECONDS_MAX);
        let inserted = sqlx::query!(
            "insert into sessions (token_hash, person_id, tenant_id, created_at, used_at, expires_at)
            select $1, m.person_id, m.tenant_id, $4, $4, $5
            from members m join tenants t on t.id = m.tenant_id
            where m.person_id = $2 and t.name = $3",
            &token_hash.0[..],
            person.0,
            tenant,
            now.to_datetime(),
            expires_at.to_datetime(),
        )
        .execute(&mut *transaction)
        .await?;
        if inserted.rows_affected() == 0 {
            return Err(StoreError::NotFound("member"));
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// The session with this token's hash. This query takes no tenant: authentication comes before any
    /// tenant is known.
    pub async fn session(
        &self,
        token_hash: Digest,
        now: Micros,
    ) -> Result<Option<SessionRow>, StoreError> {
        let row = sqlx::query!(
            "select p.id, p.email, p.name, s.tenant_id, t.name as tenant_name, m.role, s.used_at,
                s.expires_at
            from sessions s
            join people p on p.id = s.person_id
            join members m on m.tenant_id = s.tenant_id and m.person_id = s.person_id
            join tenants t on t.id = s.tenant_id
            where s.token_hash = $1 and s.expires_at > $2 and s.used_at > $3
                and p.disabled_at is null",
            &token_hash.0[..],
            now.to_datetime(),
            idle_since(now).to_datetime(),
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.and_then(|row| {
            Some(SessionRow {
                person: PersonId(row.id),
                email: row.email,
                name: row.name,
                tenant: TenantId(row.tenant_id),
                tenant_name: row.tenant_name,
                role: Role::parse(&row.role)?,
                used_at: Micros::from_datetime(row.used_at),
                expires_at: Micros::from_datetime(row.expires_at),
            })
        }))
    }

    pub async fn touch_session(&self, token_hash: Digest, now: Micros) -> Result<(), StoreError> {
        sqlx::query!(
            "update sessions set used_at = greatest(used_at, $2) where token_hash = $1",
            &token_hash.0[..],
            now.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Moves a session to another tenant of the person; other tenants are not found.
    pub async fn switch_session(&self, token_hash: Digest, tenant: &str) -> Result<(), StoreError> {
        let switched = sqlx::query!(
            "update sessions s set tenant_id = t.id
            from tenants t join members m on m.tenant_id = t.id
            where s.token_hash = $1 and t.name = $2 and m.person_id = s.person_id",
            &token_hash.0[..],
            tenant,
        )
        .execute(&self.pool)
        .await?;
        if switched.rows_affected() == 0 { Err(StoreError::NotFound("tenant")) } else { Ok(()) }
    }

    pub async fn end_session(&self, token_hash: Digest) -> Result<(), StoreError> {
        sqlx::query!("delete from sessions where token_hash = $1", &token_hash.0[..])
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The memberships of one person in all tenants, the earliest first.
    pub async fn memberships(&self, person: PersonId) -> Result<Vec<Membership>, StoreError> {
        let rows = sqlx::query!(
            "select t.name as tenant, m.role from members m join tenants t on t.id = m.tenant_id
            where m.person_id = $1 order by m.added_at, t.name limit 10000",
            person.0,
        )
        .fetch_all(&self.pool)
        .await?;
        let memberships = rows.into_iter().filter_map(|row| {
            Some(Membership { tenant: row.tenant, role: Role::parse(&row.role)? })
        });
        Ok(memberships.collect())
    }
}
