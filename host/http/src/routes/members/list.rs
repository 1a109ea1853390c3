//! `GET /v1/members`: the members of a tenant.

use assay_api::people::MemberList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::page::AdminPage;
use crate::extract::query::{Query, TenantSearchQuery};
use crate::problem::ApiError;
use crate::routes::tenants;

/// The members of a tenant.
#[utoipa::path(
    get, path = "/v1/members", tag = "people", params(TenantSearchQuery, AdminPage<String>),
    responses((status = 200, body = MemberList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<Admin>,
    Query(query): Query<TenantSearchQuery>,
    page: AdminPage<String>,
) -> Result<Json<MemberList>, ApiError> {
    let name = query.tenant.as_deref().unwrap_or(&caller.tenant_name);
    let tenant = tenants::find(&app, &caller, name).await?;
    let items = app.store.members(tenant.id, &page.rows(body::search(query.q)?)).await?;
    let next = page.next(&items, |last| last.email.clone());
    Ok(Json(MemberList { items, next }))
}
