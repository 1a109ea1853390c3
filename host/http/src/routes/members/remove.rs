//! `DELETE /v1/members/{person}`: remove a member.

use assay_dispatch::now;
use axum::extract::State;
use axum::http::StatusCode;

use super::managed;
use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::path::PathId;
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::tenants::TenantQuery;
use assay_core::id::PersonId;

/// Remove a member, who loses access at once.
#[utoipa::path(
    delete, path = "/v1/members/{person}", tag = "people",
    params(("person" = String, Path), TenantQuery),
    responses((status = 204))
)]
pub(crate) async fn remove(
    State(app): AppState,
    caller: Scoped<Admin>,
    PathId(person): PathId<PersonId>,
    Query(query): Query<TenantQuery>,
) -> Result<StatusCode, ApiError> {
    let tenant = managed(&app, &caller, query.tenant.as_deref()).await?;
    app.store.remove_member(tenant, person, &caller.actor(), now()).await?;
    app.keys.forget_person(person);
    Ok(StatusCode::NO_CONTENT)
}
