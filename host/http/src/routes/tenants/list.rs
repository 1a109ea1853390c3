//! `GET /v1/tenants`: every tenant, or the caller's own.

use assay_api::key::Scope;
use assay_api::tenant::TenantList;
use axum::Json;
use axum::extract::State;

use super::{find, shown};
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::page::AdminPage;
use crate::extract::query::{Query, SearchQuery};
use crate::problem::ApiError;

/// Tenants by name; with `admin:*` alone, only your own.
#[utoipa::path(
    get, path = "/v1/tenants", tag = "tenants", params(SearchQuery, AdminPage<String>),
    responses((status = 200, body = TenantList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<Admin>,
    Query(query): Query<SearchQuery>,
    page: AdminPage<String>,
) -> Result<Json<TenantList>, ApiError> {
    let tenants = if caller.has(Scope::Platform) {
        app.store.tenants_listed(&page.rows(body::search(query.q)?)).await?
    } else {
        vec![find(&app, &caller, &caller.tenant_name).await?]
    };
    let next = page.next(&tenants, |last| last.name.clone());
    let items = tenants.into_iter().map(|tenant| shown(&app, tenant)).collect();
    Ok(Json(TenantList { items, next }))
}
