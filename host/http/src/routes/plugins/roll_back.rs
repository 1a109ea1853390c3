//! `POST /v1/plugins/{name}/channels/{channel}/rollback`: point a channel to its version before.

use assay_api::plugin::{Plugin, RollBackPlugin};
use assay_dispatch::now;
use assay_registry::Reference;
use assay_store::channels::Channel;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};

use super::version;
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{PluginsPromote, Scoped};
use crate::problem::ApiError;

/// Point a channel back to its last version that is not yanked. Runs that have begun keep their
/// version.
#[utoipa::path(
    post, path = "/v1/plugins/{name}/channels/{channel}/rollback", tag = "plugins",
    request_body = Option<RollBackPlugin>,
    params(("name" = String, Path), ("channel" = String, Path)),
    responses((status = 200, body = Plugin))
)]
pub(crate) async fn roll_back(
    State(app): AppState,
    caller: Scoped<PluginsPromote>,
    Path((name, channel)): Path<(String, String)>,
    body: Body,
) -> Result<Json<Plugin>, ApiError> {
    let RollBackPlugin { from } = body::json_or_default(body).await?;
    let rolled_back = Reference { tenant: None, name, channel_or_version: channel };
    caller.may_use(&rolled_back)?;
    let Reference { name, channel_or_version: channel, .. } = &rolled_back;
    let chosen = Channel { tenant: caller.tenant, plugin: name, channel };
    let number =
        app.store.roll_back_channel(chosen, from.as_deref(), &caller.actor(), now()).await?;
    app.registry.forget_resolved();
    version(&app, &caller, name, &number).await.map(Json)
}
