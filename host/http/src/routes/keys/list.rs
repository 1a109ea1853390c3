//! `GET /v1/keys`: the keys of a tenant, without their secrets.

use assay_api::key::KeyList;
use assay_core::id::KeyId;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use super::tenant;
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::page::AdminPage;
use crate::extract::query::{Query, TenantSearchQuery};
use crate::problem::ApiError;

/// The keys of a tenant, without their secrets.
#[utoipa::path(
    get, path = "/v1/keys", tag = "keys", params(TenantSearchQuery, AdminPage<KeyId>),
    responses((status = 200, body = KeyList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<Admin>,
    Query(query): Query<TenantSearchQuery>,
    page: AdminPage<KeyId>,
) -> Result<Json<KeyList>, ApiError> {
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    let items = app.store.keys(tenant, None, &page.rows(body::search(query.q)?), now()).await?;
    let next = page.next(&items, |last| last.id.to_string());
    Ok(Json(KeyList { items, next }))
}
