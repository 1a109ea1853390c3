//! `GET /v1/plugins/{name}/channels`: the channels of a plugin, and where a rollback leads.

use assay_api::plugin::PluginChannelList;
use axum::Json;
use axum::extract::{Path, State};

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::problem::ApiError;

/// The channels of a plugin, each with the version to which a rollback would point it.
#[utoipa::path(
    get, path = "/v1/plugins/{name}/channels", tag = "plugins", params(("name" = String, Path)),
    responses((status = 200, body = PluginChannelList))
)]
pub(crate) async fn channels(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Path(name): Path<String>,
) -> Result<Json<PluginChannelList>, ApiError> {
    let items = app.store.channels(caller.tenant, &name).await?;
    if items.is_empty() && app.store.versions(caller.tenant, &name).await?.is_empty() {
        return Err(ApiError::not_found("plugin"));
    }
    Ok(Json(PluginChannelList { items }))
}
