//! People, for the platform's administrators; members, for each tenant's own.

use assay_model::api::{Problem, Scope};
use assay_model::id::{PersonId, TenantId};
use assay_model::people::{
    AddMember, Invitation, Member, MemberList, PLATFORM_TENANT, Person, PersonList, SetMember,
    SetPerson, normal_email,
};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;

use super::auth::{Caller, Token};
use super::keys::TenantQuery;
use super::problem::ApiError;
use super::session::check_name;
use super::{App, AppState, body, tenants};
use crate::dispatch::now;
use crate::store::members::{AddedBy, NewMember};
use crate::store::people::NewInvitation;

/// Everybody.
#[utoipa::path(
    get, path = "/v1/people", tag = "people",
    responses(
        (status = 200, body = PersonList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
) -> Result<Json<PersonList>, ApiError> {
    caller.need(Scope::Platform)?;
    Ok(Json(PersonList { items: app.store.people().await? }))
}

/// Rename somebody, or keep them from signing in.
#[utoipa::path(
    patch, path = "/v1/people/{person}", tag = "people", params(("person" = String, Path)),
    request_body = SetPerson,
    responses(
        (status = 200, body = Person),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn change(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
    body: Body,
) -> Result<Json<Person>, ApiError> {
    caller.need(Scope::Platform)?;
    let id = person_id(&id, "person")?;
    let (change, _): (SetPerson, _) = body::json(body).await?;
    change.name.as_deref().map_or(Ok(()), check_name)?;
    Ok(Json(app.store.set_person(id, &change, &caller.actor(), now()).await?))
}

/// Invite somebody anew, who has lost their password. The old one is gone, and so are all sessions;
/// the answer has the invitation, this once.
#[utoipa::path(
    post, path = "/v1/people/{person}/invitation", tag = "people", params(("person" = String, Path)),
    responses(
        (status = 201, body = Person),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn invite(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<Person>), ApiError> {
    caller.need(Scope::Platform)?;
    let id = person_id(&id, "person")?;
    let (token, invitation) = new_invitation();
    let mut person = app.store.invite(id, invitation, &caller.actor()).await?;
    person.invitation = Some(shown(&token, invitation));
    Ok((StatusCode::CREATED, Json(person)))
}

/// A tenant's members.
#[utoipa::path(
    get, path = "/v1/members", tag = "people", params(TenantQuery),
    responses(
        (status = 200, body = MemberList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn members(
    State(app): AppState,
    caller: Caller,
    Query(query): Query<TenantQuery>,
) -> Result<Json<MemberList>, ApiError> {
    let name = query.tenant.as_deref().unwrap_or(&caller.tenant_name);
    let tenant = tenants::find(&app, &caller, name).await?;
    Ok(Json(MemberList { items: app.store.members(tenant.id).await? }))
}

/// Add a member by address. For who is new here the answer has an invitation, this once.
#[utoipa::path(
    post, path = "/v1/members", tag = "people", request_body = AddMember,
    responses(
        (status = 201, body = Member),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn add(
    State(app): AppState,
    caller: Caller,
    body: Body,
) -> Result<(StatusCode, Json<Member>), ApiError> {
    caller.administers(&caller.tenant_name)?;
    let (call, _): (AddMember, _) = body::json(body).await?;
    let tenant = managed(&app, &caller, call.tenant.as_deref()).await?;
    let email = normal_email(&call.email).map_err(ApiError::bad_request)?;
    check_name(&call.name)?;
    let by_platform = caller.has(Scope::Platform);
    let (token, invitation) = new_invitation();
    let member = NewMember {
        tenant,
        email: &email,
        name: &call.name,
        role: call.role,
        added_by: if by_platform { AddedBy::Platform } else { AddedBy::Tenant },
        invitation,
    };
    let (mut added, invited) = app.store.add_member(&member, &caller.actor()).await?;
    added.invitation = invited.then(|| shown(&token, invitation));
    Ok((StatusCode::CREATED, Json(added)))
}

/// Give a member another role; it holds at once.
#[utoipa::path(
    patch, path = "/v1/members/{person}", tag = "people",
    params(("person" = String, Path), TenantQuery), request_body = SetMember,
    responses(
        (status = 200, body = Member),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn set_role(
    State(app): AppState,
    caller: Caller,
    Path(person): Path<String>,
    Query(query): Query<TenantQuery>,
    body: Body,
) -> Result<Json<Member>, ApiError> {
    let tenant = managed(&app, &caller, query.tenant.as_deref()).await?;
    let person = person_id(&person, "member")?;
    let (SetMember { role }, _) = body::json(body).await?;
    Ok(Json(app.store.set_role(tenant, person, role, &caller.actor(), now()).await?))
}

/// Remove a member, who loses access at once.
#[utoipa::path(
    delete, path = "/v1/members/{person}", tag = "people",
    params(("person" = String, Path), TenantQuery),
    responses(
        (status = 204),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn remove(
    State(app): AppState,
    caller: Caller,
    Path(person): Path<String>,
    Query(query): Query<TenantQuery>,
) -> Result<StatusCode, ApiError> {
    let tenant = managed(&app, &caller, query.tenant.as_deref()).await?;
    let person = person_id(&person, "member")?;
    app.store.remove_member(tenant, person, &caller.actor(), now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The tenant whose members are changed. Those of the platform's own may administer all tenants, so
/// that `admin:*` alone does not make them.
async fn managed(app: &App, caller: &Caller, name: Option<&str>) -> Result<TenantId, ApiError> {
    let name = name.unwrap_or(&caller.tenant_name);
    let tenant = tenants::find(app, caller, name).await?;
    if tenant.name == PLATFORM_TENANT {
        caller.need(Scope::Platform)?;
    }
    Ok(tenant.id)
}

fn person_id(text: &str, what: &str) -> Result<PersonId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found(what))
}

fn new_invitation() -> (Token, NewInvitation) {
    let token = Token::generate();
    let token_hash = token.hash();
    (token, NewInvitation { token_hash, at: now() })
}

fn shown(token: &Token, invitation: NewInvitation) -> Invitation {
    Invitation { token: token.as_str().to_owned(), expires_at: invitation.expires_at() }
}
