//! People as an OpenID provider knows them.

use assay_api::people::Role;
use assay_core::id::{PersonId, TenantId};
use assay_core::time::Micros;
use serde_json::json;
use sqlx::PgConnection;

use super::audit::{Act, Actor, audit};
use super::people::{forget_credentials, person_act};
use super::{Store, StoreError};

/// A person as an OpenID provider describes them; the provider has verified the e-mail address.
pub struct Identity<'a> {
    pub issuer: &'a str,
    pub subject: &'a str,
    pub email: &'a str,
    pub name: &'a str,
}

/// The tenant and role of a person whom nobody invited.
#[derive(Debug, Clone, Copy)]
pub struct Welcome {
    pub tenant: TenantId,
    pub role: Role,
}

impl Store {
    /// The person with this identity: one who has it already, one with the same address, or a new one if that is
    /// allowed. Fails with `NotFound` when nobody invited them.
    pub async fn person_by_identity(
        &self,
        identity: &Identity<'_>,
        welcome: Option<Welcome>,
        now: Micros,
    ) -> Result<PersonId, StoreError> {
        let mut transaction = self.pool.begin().await?;
        let known = sqlx::query!(
            "select id, email, disabled_at, oidc_subject, invited_by,
                (oidc_issuer = $1 and oidc_subject = $2) is true as same
            from people where (oidc_issuer = $1 and oidc_subject = $2) or email = $3
            order by same desc for update",
            identity.issuer,
            identity.subject,
            identity.email,
        )
        .fetch_all(&mut *transaction)
        .await?;
        let Some(person) = known.into_iter().next() else {
            let welcome = welcome.ok_or(StoreError::NotFound("person"))?;
            let id = create_from(&mut transaction, identity, welcome, now).await?;
            transaction.commit().await?;
            return Ok(id);
        };
        let id = PersonId(person.id);
        if person.disabled_at.is_some() {
            return Err(StoreError::NotFound("person"));
        }
        if person.same == Some(true) {
            return Ok(id);
        }
        if person.oidc_subject.is_some() {
            let detail = "the address belongs to somebody else at the provider";
            return Err(StoreError::Conflict(detail.into()));
        }
        if person.invited_by.is_some() {
            // The holder of the password need not be the owner of the e-mail address.
            forget_credentials(&mut transaction, id).await?;
        }
        sqlx::query!(
            "update people set oidc_issuer = $2, oidc_subject = $3, invited_by = null,
                password_hash = case when invited_by is null then password_hash end
            where id = $1",
            id.0,
            identity.issuer,
            identity.subject,
        )
        .execute(&mut *transaction)
        .await?;
        let actor = Actor::Person { id, email: person.email.clone(), tenant: None };
        let after = json!({ "issuer": identity.issuer });
        let act = person_act(&actor, "person.link", &person.email, None, Some(after));
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(id)
    }
}

async fn create_from(
    connection: &mut PgConnection,
    identity: &Identity<'_>,
    welcome: Welcome,
    now: Micros,
) -> Result<PersonId, StoreError> {
    let id = PersonId::generate();
    sqlx::query!(
        "insert into people (id, email, name, oidc_issuer, oidc_subject, created_at)
        values ($1, $2, $3, $4, $5, $6)",
        id.0,
        identity.email,
        identity.name,
        identity.issuer,
        identity.subject,
        now.to_datetime(),
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "insert into members (tenant_id, person_id, role, added_at) values ($1, $2, $3, $4)",
        welcome.tenant.0,
        id.0,
        welcome.role.as_str(),
        now.to_datetime(),
    )
    .execute(&mut *connection)
    .await?;
    let tenant = Some(welcome.tenant);
    let actor = Actor::Person { id, email: identity.email.into(), tenant };
    let act = Act {
        tenant,
        actor: &actor,
        action: "member.add",
        subject: identity.email.into(),
        before: None,
        after: Some(json!({ "role": welcome.role, "issuer": identity.issuer })),
    };
    audit(connection, now, &act).await?;
    Ok(id)
}
