//! The members of each tenant and their roles.

use assay_api::people::{Member, PLATFORM_TENANT, Role};
use assay_core::id::{PersonId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use serde_json::{Value, json};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::audit::{Act, Actor, audit};
use super::listed::ListedRows;
use super::people::{
    NewInvitation, forget_credentials, insert_invitation, keep_an_admin, lock_admins,
};
use super::{Store, StoreError};

/// The side that adds a member; it decides how far the member's invitation is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedBy {
    /// The platform vouches for the people whom it invites.
    Platform,
    Tenant,
}

pub struct NewMember<'a> {
    pub tenant: TenantId,
    pub email: &'a str,
    /// The name of the person, if the person is new.
    pub name: &'a str,
    pub role: Role,
    pub added_by: AddedBy,
    /// The invitation, for a person who is new.
    pub invitation: NewInvitation,
}

struct MemberRow {
    tenant: String,
    person_id: Uuid,
    email: String,
    name: String,
    role: String,
    added_at: OffsetDateTime,
    disabled_at: Option<OffsetDateTime>,
    invited: bool,
}

impl MemberRow {
    fn into_member(self) -> Option<Member> {
        Some(Member {
            tenant: self.tenant,
            person: PersonId(self.person_id),
            email: self.email,
            name: self.name,
            role: Role::parse(&self.role)?,
            added_at: Micros::from_datetime(self.added_at),
            disabled_at: self.disabled_at.map(Micros::from_datetime),
            invited: self.invited,
            invitation: None,
        })
    }
}

impl Store {
    /// A page of a tenant's members by e-mail address.
    pub async fn members(
        &self,
        tenant: TenantId,
        page: &ListedRows<String>,
    ) -> Result<Vec<Member>, StoreError> {
        self.read_members(tenant, None, page).await
    }

    pub async fn member(&self, tenant: TenantId, person: PersonId) -> Result<Member, StoreError> {
        let one = ListedRows { text: None, after: None, limit: 1 };
        let mut found = self.read_members(tenant, Some(person), &one).await?;
        found.pop().ok_or(StoreError::NotFound("member"))
    }

    async fn read_members(
        &self,
        tenant: TenantId,
        person: Option<PersonId>,
        page: &ListedRows<String>,
    ) -> Result<Vec<Member>, StoreError> {
        let rows = sqlx::query_as!(
            MemberRow,
            r#"select t.name as tenant, m.person_id, p.email, p.name, m.role, m.added_at,
                p.disabled_at,
                (p.password_hash is null and p.oidc_subject is null) as "invited!"
            from members m join people p on p.id = m.person_id join tenants t on t.id = m.tenant_id
            where m.tenant_id = $1 and ($2::uuid is null or m.person_id = $2) and p.email > $3
                and ($4::text is null or position(lower($4) in lower(p.email)) > 0
                    or position(lower($4) in lower(p.name)) > 0)
            order by p.email limit $5"#,
            tenant.0,
            person.map(|person| person.0),
            page.after.as_deref().unwrap_or_default(),
            page.text.as_deref(),
            i64::from(page.limit),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().filter_map(MemberRow::into_member).collect())
    }

    /// Adds a member; also tells whether they have to accept the invitation.
    pub async fn add_member(
        &self,
        member: &NewMember<'_>,
        actor: &Actor,
    ) -> Result<(Member, bool), StoreError> {
        let now = member.invitation.at;
        let mut transaction = self.pool.begin().await?;
        let (person, invited) = find_or_invite(&mut transaction, member).await?;
        let count = sqlx::query_scalar!(
            r#"select count(*) as "count!" from members where tenant_id = $1"#,
            member.tenant.0,
        )
        .fetch_one(&mut *transaction)
        .await?;
        if count >= i64::from(limits::MEMBERS_PER_TENANT_MAX) {
            let max = limits::MEMBERS_PER_TENANT_MAX;
            return Err(StoreError::Conflict(format!("a tenant has at most {max} members")));
        }
        let inserted = sqlx::query!(
            "insert into members (tenant_id, person_id, role, added_at) values ($1, $2, $3, $4)
            on conflict (tenant_id, person_id) do nothing",
            member.tenant.0,
            person.0,
            member.role.as_str(),
            now.to_datetime(),
        )
        .execute(&mut *transaction)
        .await?;
        if inserted.rows_affected() == 0 {
            let detail = format!("{} is a member already", member.email);
            return Err(StoreError::Conflict(detail));
        }
        let after = json!({ "role": member.role, "invited": invited });
        let act = act(member.tenant, actor, "member.add", member.email, None, Some(after));
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok((self.member(member.tenant, person).await?, invited))
    }

    pub async fn set_role(
        &self,
        tenant: TenantId,
        person: PersonId,
        role: Role,
        actor: &Actor,
        now: Micros,
    ) -> Result<Member, StoreError> {
        let mut transaction = self.pool.begin().await?;
        lock_admins(&mut transaction).await?;
        let was = sqlx::query!(
            "select m.role, p.email from members m join people p on p.id = m.person_id
            where m.tenant_id = $1 and m.person_id = $2 for update of m",
            tenant.0,
            person.0,
        )
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or(StoreError::NotFound("member"))?;
        sqlx::query!(
            "update members set role = $3 where tenant_id = $1 and person_id = $2",
            tenant.0,
            person.0,
            role.as_str(),
        )
        .execute(&mut *transaction)
        .await?;
        if was.role != role.as_str() {
            lost_admin(&mut transaction, tenant, &was.role).await?;
            let (before, after) = (json!({ "role": was.role }), json!({ "role": role }));
            let act = act(tenant, actor, "member.role", &was.email, Some(before), Some(after));
            audit(&mut transaction, now, &act).await?;
        }
        transaction.commit().await?;
        self.member(tenant, person).await
    }

    /// Removes a member; its sessions in the tenant end with it.
    pub async fn remove_member(
        &self,
        tenant: TenantId,
        person: PersonId,
        actor: &Actor,
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        lock_admins(&mut transaction).await?;
        let removed = sqlx::query!(
            "delete from members m using people p
            where m.tenant_id = $1 and m.person_id = $2 and p.id = m.person_id
            returning m.role, p.email",
            tenant.0,
            person.0,
        )
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or(StoreError::NotFound("member"))?;
        lost_admin(&mut transaction, tenant, &removed.role).await?;
        let before = json!({ "role": removed.role });
        let act = act(tenant, actor, "member.remove", &removed.email, Some(before), None);
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Refuses what took the platform's last administrator away.
async fn lost_admin(
    connection: &mut PgConnection,
    tenant: TenantId,
    role: &str,
) -> Result<(), StoreError> {
    let platform = sqlx::query_scalar!("select name from tenants where id = $1", tenant.0)
        .fetch_one(&mut *connection)
        .await?;
    if platform == PLATFORM_TENANT && role == Role::Admin.as_str() {
        return keep_an_admin(connection).await;
    }
    Ok(())
}

fn act<'a>(
    tenant: TenantId,
    actor: &'a Actor,
    action: &'static str,
    email: &str,
    before: Option<Value>,
    after: Option<Value>,
) -> Act<'a> {
    Act { tenant: Some(tenant), actor, action, subject: email.into(), before, after }
}

/// The person with the address, and whether they have to accept the invitation.
async fn find_or_invite(
    connection: &mut PgConnection,
    member: &NewMember<'_>,
) -> Result<(PersonId, bool), StoreError> {
    let invited_by = (member.added_by == AddedBy::Tenant).then_some(member.tenant.0);
    let created = sqlx::query_scalar!(
        "insert into people (id, email, name, invited_by, created_at) values ($1, $2, $3, $4, $5)
        on conflict on constraint people_email_unique do nothing returning id",
        PersonId::generate().0,
        member.email,
        member.name,
        invited_by,
        member.invitation.at.to_datetime(),
    )
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(id) = created {
        insert_invitation(connection, PersonId(id), member.invitation).await?;
        return Ok((PersonId(id), true));
    }
    let known = sqlx::query!(
        r#"select id, invited_by, password_hash is not null as "password!"
        from people where email = $1 for update"#,
        member.email,
    )
    .fetch_one(&mut *connection)
    .await?;
    let id = PersonId(known.id);
    match (known.invited_by, member.added_by) {
        (None, _) => return Ok((id, false)),
        (Some(tenant), _) if tenant == member.tenant.0 && known.password => {
            return Ok((id, false));
        }
        (Some(tenant), AddedBy::Tenant) if tenant != member.tenant.0 => {
            return Err(StoreError::Conflict(format!(
                "{} was invited by another tenant, which alone vouches for them; ask the \
                 platform's administrators to add them",
                member.email
            )));
        }
        (Some(_), AddedBy::Tenant) => {}
        // The tenant's administrator may know the password.
        (Some(_), AddedBy::Platform) => {
            forget_credentials(connection, id).await?;
            sqlx::query!(
                "update people set password_hash = null, invited_by = null where id = $1",
                id.0,
            )
            .execute(&mut *connection)
            .await?;
        }
    }
    insert_invitation(connection, id, member.invitation).await?;
    Ok((id, true))
}
