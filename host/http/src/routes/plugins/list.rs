//! `GET /v1/plugins`: every version of every plugin.

use assay_api::plugin::PluginList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::problem::ApiError;

/// Every version of every plugin.
#[utoipa::path(
    get, path = "/v1/plugins", tag = "plugins",
    responses((status = 200, body = PluginList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
) -> Result<Json<PluginList>, ApiError> {
    Ok(Json(PluginList { items: app.store.plugins(caller.tenant, None).await? }))
}
