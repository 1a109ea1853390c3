//! `GET /v1/plugins`: plugins by name, each with every version.

use assay_api::plugin::PluginList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::page::AdminPage;
use crate::extract::query::{Query, SearchQuery};
use crate::problem::ApiError;

/// Plugins by name, each with all its versions, the newest first. A page has at most `limit` plugins.
#[utoipa::path(
    get, path = "/v1/plugins", tag = "plugins", params(SearchQuery, AdminPage<String>),
    responses((status = 200, body = PluginList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Query(query): Query<SearchQuery>,
    page: AdminPage<String>,
) -> Result<Json<PluginList>, ApiError> {
    let rows = page.rows(body::search(query.q)?);
    let (items, next) = app.store.plugins(caller.tenant, &rows).await?;
    Ok(Json(PluginList { items, next }))
}
