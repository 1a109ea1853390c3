//! `POST /v1/keys/{id}/revoke`: revoke a key at once.

use assay_api::key::Key;
use assay_core::id::KeyId;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use super::tenant;
use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::path::PathId;
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::tenants::TenantQuery;

/// Revoke a key at once.
#[utoipa::path(
    post, path = "/v1/keys/{id}/revoke", tag = "keys", params(("id" = String, Path), TenantQuery),
    responses((status = 200, body = Key))
)]
pub(crate) async fn revoke(
    State(app): AppState,
    caller: Scoped<Admin>,
    PathId(id): PathId<KeyId>,
    Query(query): Query<TenantQuery>,
) -> Result<Json<Key>, ApiError> {
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    let key = app.store.revoke_key(tenant, id, &caller.actor(), now()).await?;
    app.keys.forget(&key.prefix);
    Ok(Json(key))
}
