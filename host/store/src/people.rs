//! People: who they are and how they sign in. Passwords are kept as argon2id hashes, invitations as
//! hashes of their tokens.
//!
//! The platform, or the OpenID provider, vouches that an address is somebody's; of who was invited by
//! a tenant, only that tenant does (`invited_by`): the password may be its administrator's. So no
//! other tenant can add such a person, and whoever vouches for them later takes the password away.

use std::collections::HashMap;

use assay_api::people::{Membership, PLATFORM_TENANT, Person, Role, SetPerson};
use assay_core::id::{Digest, PersonId};
use assay_core::limits;
use assay_core::time::Micros;
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::audit::{Act, Actor, audit};
use super::listed::ListedRows;
use super::{Store, StoreError};

/// The row that a sign-in by password is checked against.
#[derive(Debug, Clone)]
pub struct Credentials {
    pub person: PersonId,
    pub password_hash: Option<String>,
    pub disabled: bool,
}

/// The first administrator of the platform.
pub struct FirstAdmin<'a> {
    pub email: &'a str,
    pub name: &'a str,
    pub password_hash: &'a str,
    /// Besides the platform's own.
    pub tenants: &'a [String],
}

/// A token that was just made, as it is kept.
#[derive(Debug, Clone, Copy)]
pub struct NewInvitation {
    pub token_hash: Digest,
    pub at: Micros,
}

impl NewInvitation {
    #[must_use]
    pub fn expires_at(self) -> Micros {
        self.at + Micros::from_secs(limits::INVITATION_SECONDS_MAX)
    }
}

/// An invitation that is accepted.
pub struct Acceptance<'a> {
    pub token_hash: Digest,
    pub name: Option<&'a str>,
    pub password_hash: &'a str,
    pub at: Micros,
}

impl Store {
    /// Whether anybody who can sign in administers the platform.
    pub async fn platform_has_admin(&self) -> Result<bool, StoreError> {
        let mut connection = self.pool.acquire().await?;
        has_admin(&mut connection).await
    }

    /// Makes the first administrator of the platform; fails once there is one.
    pub async fn create_first_admin(
        &self,
        admin: &FirstAdmin<'_>,
        now: Micros,
    ) -> Result<PersonId, StoreError> {
        let mut transaction = self.pool.begin().await?;
        lock_admins(&mut transaction).await?;
        if has_admin(&mut transaction).await? {
            return Err(StoreError::Conflict("the platform has an administrator already".into()));
        }
        let id = sqlx::query_scalar!(
            "insert into people (id, email, name, password_hash, created_at)
            values ($1, $2, $3, $4, $5)
            on conflict on constraint people_email_unique do update
            set name = excluded.name, password_hash = excluded.password_hash, invited_by = null,
                disabled_at = null
            returning id",
            PersonId::generate().0,
            admin.email,
            admin.name,
            admin.password_hash,
            now.to_datetime(),
        )
        .fetch_one(&mut *transaction)
        .await?;
        forget_credentials(&mut transaction, PersonId(id)).await?;
        sqlx::query!(
            "insert into members (tenant_id, person_id, role, added_at)
            select id, $1, 'admin', $2 from tenants where name = any ($3)
            on conflict (tenant_id, person_id) do update set role = 'admin'",
            id,
            now.to_datetime(),
            admin.tenants,
        )
        .execute(&mut *transaction)
        .await?;
        let actor = Actor::Person { id: PersonId(id), email: admin.email.into(), tenant: None };
        let act = Act {
            tenant: None,
            actor: &actor,
            action: "platform.bootstrap",
            subject: admin.email.into(),
            before: None,
            after: Some(json!({ "role": "admin", "tenants": admin.tenants })),
        };
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(PersonId(id))
    }

    /// The credentials of a person. This query takes no tenant: authentication comes before any tenant is
    /// known.
    pub async fn credentials(&self, email: &str) -> Result<Option<Credentials>, StoreError> {
        let row = sqlx::query!(
            "select id, password_hash, disabled_at from people where email = $1",
            email,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| Credentials {
            person: PersonId(row.id),
            password_hash: row.password_hash,
            disabled: row.disabled_at.is_some(),
        }))
    }

    /// A page of people by e-mail address, for the platform's administrators.
    pub async fn people(&self, page: &ListedRows<String>) -> Result<Vec<Person>, StoreError> {
        self.read_people(None, page).await
    }

    pub async fn person(&self, id: PersonId) -> Result<Person, StoreError> {
        let one = ListedRows { text: None, after: None, limit: 1 };
        self.read_people(Some(id), &one).await?.pop().ok_or(StoreError::NotFound("person"))
    }

    async fn read_people(
        &self,
        id: Option<PersonId>,
        page: &ListedRows<String>,
    ) -> Result<Vec<Person>, StoreError> {
        let rows = sqlx::query!(
            r#"select id, email, name, created_at, disabled_at,
                password_hash is not null as "password!", oidc_subject is not null as "oidc!"
            from people where ($1::uuid is null or id = $1) and email > $2
                and ($3::text is null or position(lower($3) in lower(email)) > 0
                    or position(lower($3) in lower(name)) > 0)
            order by email limit $4"#,
            id.map(|id| id.0),
            page.after.as_deref().unwrap_or_default(),
            page.text.as_deref(),
            i64::from(page.limit),
        )
        .fetch_all(&self.pool)
        .await?;
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let members = sqlx::query!(
            "select m.person_id, t.name as tenant, m.role
            from members m join tenants t on t.id = m.tenant_id
            where m.person_id = any ($1) order by t.name limit 100000",
            &ids,
        )
        .fetch_all(&self.pool)
        .await?;
        let mut memberships: HashMap<_, Vec<Membership>> = HashMap::new();
        for row in members {
            if let Some(role) = Role::parse(&row.role) {
                let tenant = row.tenant;
                memberships.entry(row.person_id).or_default().push(Membership { tenant, role });
            }
        }
        let people = rows.into_iter().map(|row| Person {
            id: PersonId(row.id),
            email: row.email,
            name: row.name,
            created_at: Micros::from_datetime(row.created_at),
            disabled_at: row.disabled_at.map(Micros::from_datetime),
            password: row.password,
            oidc: row.oidc,
            memberships: memberships.remove(&row.id).unwrap_or_default(),
            invitation: None,
        });
        Ok(people.collect())
    }

    /// Changes a person; who is disabled is signed out.
    pub async fn set_person(
        &self,
        id: PersonId,
        change: &SetPerson,
        actor: &Actor,
        now: Micros,
    ) -> Result<Person, StoreError> {
        let before = self.person(id).await?;
        let mut transaction = self.pool.begin().await?;
        lock_admins(&mut transaction).await?;
        let had_admin = has_admin(&mut transaction).await?;
        sqlx::query!(
            "update people set name = coalesce($2, name),
                disabled_at = case when $3 then coalesce(disabled_at, $4) when not $3 then null
                    else disabled_at end
            where id = $1",
            id.0,
            change.name.as_deref(),
            change.disabled,
            now.to_datetime(),
        )
        .execute(&mut *transaction)
        .await?;
        if change.disabled == Some(true) {
            sqlx::query!("delete from sessions where person_id = $1", id.0)
                .execute(&mut *transaction)
                .await?;
            if had_admin {
                keep_an_admin(&mut transaction).await?;
            }
        }
        let shown = |name: &str, disabled: bool| json!({ "name": name, "disabled": disabled });
        let is = (
            change.name.as_deref().unwrap_or(&before.name),
            change.disabled.unwrap_or(before.disabled_at.is_some()),
        );
        let (was, is) = (shown(&before.name, before.disabled_at.is_some()), shown(is.0, is.1));
        if was != is {
            let act = person_act(actor, "person.set", &before.email, Some(was), Some(is));
            audit(&mut transaction, now, &act).await?;
        }
        transaction.commit().await?;
        self.person(id).await
    }

    /// Invites a person anew: the platform vouches for who gets the token. The password is gone.
    pub async fn invite(
        &self,
        id: PersonId,
        invitation: NewInvitation,
        actor: &Actor,
    ) -> Result<Person, StoreError> {
        let person = self.person(id).await?;
        let mut transaction = self.pool.begin().await?;
        forget_credentials(&mut transaction, id).await?;
        sqlx::query!(
            "update people set password_hash = null, invited_by = null where id = $1",
            id.0,
        )
        .execute(&mut *transaction)
        .await?;
        insert_invitation(&mut transaction, id, invitation).await?;
        let act = person_act(actor, "person.invite", &person.email, None, None);
        audit(&mut transaction, invitation.at, &act).await?;
        transaction.commit().await?;
        self.person(id).await
    }

    /// Whether an invitation can still be accepted.
    pub async fn invitation_holds(
        &self,
        token_hash: Digest,
        now: Micros,
    ) -> Result<bool, StoreError> {
        let found = sqlx::query_scalar!(
            r#"select true as "found!" from invitations i join people p on p.id = i.person_id
            where i.token_hash = $1 and i.expires_at > $2 and p.disabled_at is null"#,
            &token_hash.0[..],
            now.to_datetime(),
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(found.is_some())
    }

    /// Sets the password of who was invited, once.
    pub async fn accept_invitation(
        &self,
        acceptance: &Acceptance<'_>,
    ) -> Result<PersonId, StoreError> {
        let mut transaction = self.pool.begin().await?;
        let accepted = sqlx::query!(
            "with accepted as (
                delete from invitations where token_hash = $1 and expires_at > $4
                returning person_id
            )
            update people p set password_hash = $2, name = coalesce($3, p.name)
            from accepted a where p.id = a.person_id and p.disabled_at is null
            returning p.id, p.email",
            &acceptance.token_hash.0[..],
            acceptance.password_hash,
            acceptance.name,
            acceptance.at.to_datetime(),
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(accepted) = accepted else { return Err(StoreError::NotFound("invitation")) };
        sqlx::query!("delete from sessions where person_id = $1", accepted.id)
            .execute(&mut *transaction)
            .await?;
        let id = PersonId(accepted.id);
        let actor = Actor::Person { id, email: accepted.email.clone(), tenant: None };
        let act = person_act(&actor, "person.accept", &accepted.email, None, None);
        audit(&mut transaction, acceptance.at, &act).await?;
        transaction.commit().await?;
        Ok(id)
    }

    /// Changes a person's own password; every session of the person ends, except the one that does it. Fails if that session,
    /// or the password that was checked, is gone meanwhile.
    pub async fn set_password(
        &self,
        person: PersonId,
        (checked_hash, password_hash): (&str, &str),
        kept_session: Digest,
        actor: &Actor,
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        let email = sqlx::query_scalar!(
            "update people set password_hash = $2
            where id = $1 and password_hash = $3 and disabled_at is null
                and exists (select 1 from sessions where token_hash = $4 and person_id = $1)
            returning email",
            person.0,
            password_hash,
            checked_hash,
            &kept_session.0[..],
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(email) = email else { return Err(StoreError::NotFound("session")) };
        sqlx::query!(
            "delete from sessions where person_id = $1 and token_hash <> $2",
            person.0,
            &kept_session.0[..],
        )
        .execute(&mut *transaction)
        .await?;
        let act = person_act(actor, "person.password", &email, None, None);
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(())
    }
}

pub(super) fn person_act<'a>(
    actor: &'a Actor,
    action: &'static str,
    email: &str,
    before: Option<Value>,
    after: Option<Value>,
) -> Act<'a> {
    Act { tenant: None, actor, action, subject: email.into(), before, after }
}

/// Deletes the sessions and invitations of a person and revokes the personal keys: the person is signed out, and
/// nothing that somebody else may have made under the person's name works on.
pub(super) async fn forget_credentials(
    connection: &mut PgConnection,
    person: PersonId,
) -> Result<(), StoreError> {
    // A session that begins at this moment is deleted too, or sees what changed.
    sqlx::query_scalar!("select id from people where id = $1 for update", person.0)
        .fetch_optional(&mut *connection)
        .await?;
    sqlx::query!(
        "update keys set revoked_at = now() where person_id = $1 and revoked_at is null",
        person.0
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("delete from sessions where person_id = $1", person.0)
        .execute(&mut *connection)
        .await?;
    sqlx::query!("delete from invitations where person_id = $1", person.0)
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn insert_invitation(
    connection: &mut PgConnection,
    person: PersonId,
    invitation: NewInvitation,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into invitations (person_id, token_hash, created_at, expires_at)
        values ($1, $2, $3, $4)
        on conflict (person_id) do update
        set token_hash = excluded.token_hash, created_at = excluded.created_at,
            expires_at = excluded.expires_at",
        person.0,
        &invitation.token_hash.0[..],
        invitation.at.to_datetime(),
        invitation.expires_at().to_datetime(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// One at a time decides on who administers the platform.
pub(super) async fn lock_admins(connection: &mut PgConnection) -> Result<(), StoreError> {
    sqlx::query!("select id from tenants where name = $1 for no key update", PLATFORM_TENANT)
        .fetch_optional(connection)
        .await?;
    Ok(())
}

async fn has_admin(connection: &mut PgConnection) -> Result<bool, StoreError> {
    let found = sqlx::query_scalar!(
        r#"select true as "found!" from members m
        join tenants t on t.id = m.tenant_id join people p on p.id = m.person_id
        where t.name = $1 and m.role = 'admin' and p.disabled_at is null limit 1"#,
        PLATFORM_TENANT,
    )
    .fetch_optional(connection)
    .await?;
    Ok(found.is_some())
}

/// The last administrator of the platform stays.
pub(super) async fn keep_an_admin(connection: &mut PgConnection) -> Result<(), StoreError> {
    if has_admin(connection).await? {
        return Ok(());
    }
    let detail = "this is the platform's last administrator; make another one first";
    Err(StoreError::Conflict(detail.into()))
}
