//! `PATCH /v1/members/{person}`: give a member another role.

use assay_api::people::{Member, SetMember};
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use super::managed;
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::path::PathId;
use crate::extract::query::Query;
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;
use crate::routes::tenants::TenantQuery;
use assay_core::id::PersonId;

/// Give a member another role. It takes effect at once.
#[utoipa::path(
    patch, path = "/v1/members/{person}", tag = "people",
    params(("person" = String, Path), TenantQuery), request_body = SetMember,
    responses((status = 200, body = Member))
)]
pub(crate) async fn set_role(
    State(app): AppState,
    caller: Scoped<Admin>,
    PathId(person): PathId<PersonId>,
    Query(query): Query<TenantQuery>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<Json<Member>, ApiError> {
    let tenant = managed(&app, &caller, query.tenant.as_deref()).await?;
    let SetMember { role } = body::parse(&body)?;
    let member = app.store.set_role(tenant, person, role, &caller.actor(), now()).await?;
    app.keys.forget_person(person);
    Ok(Json(member))
}
