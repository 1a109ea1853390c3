//! `GET /v1/members`: the members of a tenant.

use assay_api::people::MemberList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::tenants::{self, TenantQuery};

/// The members of a tenant.
#[utoipa::path(
    get, path = "/v1/members", tag = "people", params(TenantQuery),
    responses((status = 200, body = MemberList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<Admin>,
    Query(query): Query<TenantQuery>,
) -> Result<Json<MemberList>, ApiError> {
    let name = query.tenant.as_deref().unwrap_or(&caller.tenant_name);
    let tenant = tenants::find(&app, &caller, name).await?;
    Ok(Json(MemberList { items: app.store.members(tenant.id).await? }))
}
