//! `POST /v1/plugins/{name}/versions/{version}/yank`: keep new runs off a version.

use assay_api::plugin::{Plugin, YankPlugin};
use assay_core::limits;
use assay_dispatch::now;
use assay_registry::Reference;
use assay_store::plugins::PluginVersion;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};

use super::version;
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{PluginsPromote, Scoped};
use crate::extract::name::check_text;
use crate::problem::ApiError;

/// Yank a version: new runs cannot use it. Runs that use it keep it.
#[utoipa::path(
    post, path = "/v1/plugins/{name}/versions/{version}/yank", tag = "plugins", request_body = YankPlugin,
    params(("name" = String, Path), ("version" = String, Path)),
    responses((status = 200, body = Plugin))
)]
pub(crate) async fn yank(
    State(app): AppState,
    caller: Scoped<PluginsPromote>,
    Path((name, number)): Path<(String, String)>,
    body: Body,
) -> Result<Json<Plugin>, ApiError> {
    let (call, _): (YankPlugin, _) = body::json(body).await?;
    check_text("reason", &call.reason, limits::REASON_BYTES_MAX)
        .map_err(|error| ApiError::bad_request(error).field("reason"))?;
    // Every channel of the plugin may name the version.
    let yanked = Reference { tenant: None, name, channel_or_version: number };
    caller.may_use(&yanked)?;
    let Reference { name, channel_or_version: number, .. } = &yanked;
    let chosen = PluginVersion { tenant: caller.tenant, name, version: number };
    app.store.yank_plugin(chosen, &call.reason, &caller.actor(), now()).await?;
    app.registry.forget_resolved();
    version(&app, &caller, name, number).await.map(Json)
}
