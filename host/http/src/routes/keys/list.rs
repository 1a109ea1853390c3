//! `GET /v1/keys`: the keys of a tenant, without their secrets.

use assay_api::key::KeyList;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use super::tenant;
use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::tenants::TenantQuery;

/// The keys of a tenant, without their secrets.
#[utoipa::path(
    get, path = "/v1/keys", tag = "keys", params(TenantQuery),
    responses((status = 200, body = KeyList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<Admin>,
    Query(query): Query<TenantQuery>,
) -> Result<Json<KeyList>, ApiError> {
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    Ok(Json(KeyList { items: app.store.keys(tenant, now()).await? }))
}
