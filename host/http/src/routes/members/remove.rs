//! `DELETE /v1/members/{person}`: remove a member.

use assay_dispatch::now;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;

use super::managed;
use crate::app::AppState;
use crate::auth::Caller;
use crate::problem::ApiError;
use crate::routes::people::person_id;
use crate::routes::tenants::TenantQuery;

/// Remove a member, who loses access at once.
#[utoipa::path(
    delete, path = "/v1/members/{person}", tag = "people",
    params(("person" = String, Path), TenantQuery),
    responses((status = 204))
)]
pub(crate) async fn remove(
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
