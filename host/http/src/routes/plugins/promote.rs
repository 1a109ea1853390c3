//! `PUT /v1/plugins/{name}/channels/{channel}`: point a channel to a version.

use std::sync::Arc;

use assay_api::plugin::{Plugin, PromotePlugin};
use assay_core::id::TenantId;
use assay_core::limits;
use assay_core::plugin::check_name;
use assay_dispatch::now;
use assay_registry::Reference;
use assay_store::plugins::PluginVersion;
use axum::Json;
use axum::extract::{Path, State};

use super::version;
use crate::app::{App, AppState};
use crate::extract::body;
use crate::extract::guard::{PluginsPromote, Scoped};
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;

/// Point a channel to a version. Runs that have begun keep their version.
#[utoipa::path(
    put, path = "/v1/plugins/{name}/channels/{channel}", tag = "plugins", request_body = PromotePlugin,
    params(("name" = String, Path), ("channel" = String, Path)),
    responses((status = 200, body = Plugin))
)]
pub(crate) async fn promote(
    State(app): AppState,
    caller: Scoped<PluginsPromote>,
    Path((name, channel)): Path<(String, String)>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<Json<Plugin>, ApiError> {
    let call: PromotePlugin = body::parse(&body)?;
    check_name("channel", &channel, limits::PLUGIN_NAME_BYTES_MAX)
        .map_err(ApiError::bad_request)?;
    if channel.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(ApiError::bad_request(
            "a channel must start with a letter, to tell it from a version",
        ));
    }
    let promoted = Reference { tenant: None, name: name.clone(), channel_or_version: channel };
    caller.may_use(&promoted)?;
    let channel = promoted.channel_or_version.as_str();
    let chosen = PluginVersion { tenant: caller.tenant, name: &name, version: &call.version };
    app.store.promote_plugin(chosen, channel, &caller.actor(), now()).await?;
    app.registry.forget_resolved();
    preload(&app, caller.tenant, promoted);
    version(&app, &caller, &name, &call.version).await.map(Json)
}

/// Has the workers load the version that the channel names now, so that the first call for it waits for no loading. The
/// caller does not wait: the version may have to be compiled for this machine first.
fn preload(app: &Arc<App>, tenant: TenantId, reference: Reference) {
    let app = Arc::clone(app);
    tokio::spawn(async move {
        match app.registry.resolve(tenant, &reference).await {
            Ok(plugin) => app.dispatch.preload(plugin),
            // The first call for it gets the error.
            Err(error) => tracing::debug!(%error, "a promoted plugin is not loaded early"),
        }
    });
}
