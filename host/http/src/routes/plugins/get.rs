//! `GET /v1/plugins/{name}`: every version of one plugin.

use assay_api::plugin::PluginList;
use axum::Json;
use axum::extract::{Path, State};

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::problem::ApiError;

/// Every version of one plugin, newest first.
#[utoipa::path(
    get, path = "/v1/plugins/{name}", tag = "plugins", params(("name" = String, Path)),
    responses((status = 200, body = PluginList))
)]
pub(crate) async fn versions(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Path(name): Path<String>,
) -> Result<Json<PluginList>, ApiError> {
    let items = app.store.versions(caller.tenant, &name).await?;
    if items.is_empty() {
        return Err(ApiError::not_found("plugin"));
    }
    Ok(Json(PluginList { items, next: None }))
}
