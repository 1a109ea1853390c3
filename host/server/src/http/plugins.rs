//! Plugins: upload, list, download, promote, roll back, yank.

use assay_model::api::{Plugin, PluginList, Problem, PromotePlugin, Scope, YankPlugin};
use assay_model::limits;
use assay_model::plugin::check_name;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::auth::Caller;
use super::problem::ApiError;
use super::{App, AppState, body, quotas};
use crate::dispatch::now;
use crate::registry::Publisher;
use crate::store::channels::Channel;
use crate::store::plugins::{PluginVersion, Published};

/// Every version of every plugin.
#[utoipa::path(
    get, path = "/v1/plugins", tag = "plugins",
    responses(
        (status = 200, body = PluginList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
) -> Result<Json<PluginList>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    Ok(Json(PluginList { items: app.store.plugins(caller.tenant, None).await? }))
}

/// Every version of one plugin, newest first.
#[utoipa::path(
    get, path = "/v1/plugins/{name}", tag = "plugins", params(("name" = String, Path)),
    responses(
        (status = 200, body = PluginList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn versions(
    State(app): AppState,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<PluginList>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let items = app.store.plugins(caller.tenant, Some(&name)).await?;
    if items.is_empty() {
        return Err(ApiError::not_found("plugin"));
    }
    Ok(Json(PluginList { items }))
}

/// Publish a component; its own `describe` names it. The same bytes again change nothing.
#[utoipa::path(
    post, path = "/v1/plugins", tag = "plugins",
    request_body(content = inline(body::Binary), content_type = "application/wasm"),
    responses(
        (status = 201, body = Plugin),
        (status = 200, body = Plugin, description = "These bytes were published before"),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn publish(
    State(app): AppState,
    caller: Caller,
    body: Body,
) -> Result<(StatusCode, Json<Plugin>), ApiError> {
    caller.need(Scope::PluginsPublish)?;
    quotas::not_suspended(&app, caller.tenant)?;
    let _turn = app.uploads.acquire().await.expect("the semaphore is never closed");
    let component = body::whole(body, "a component", limits::PLUGIN_BYTES_MAX).await?;
    let settings = app.dispatch.tenants.get(caller.tenant);
    let publisher =
        Publisher { tenant: caller.tenant, actor: &caller.actor(), grants: &settings.grants };
    let (description, published) = app.registry.publish(publisher, component).await?;
    let plugin = version(&app, &caller, &description.name, &description.version).await?;
    let status = match published {
        Published::New => StatusCode::CREATED,
        Published::Already => StatusCode::OK,
    };
    Ok((status, Json(plugin)))
}

async fn version(
    app: &App,
    caller: &Caller,
    name: &str,
    version: &str,
) -> Result<Plugin, ApiError> {
    let versions = app.store.plugins(caller.tenant, Some(name)).await?;
    let found = versions.into_iter().find(|plugin| plugin.version == version);
    found.ok_or_else(|| ApiError::not_found("plugin version"))
}

/// Point a channel to a version. Runs that are under way keep theirs.
#[utoipa::path(
    put, path = "/v1/plugins/{name}/channels/{channel}", tag = "plugins", request_body = PromotePlugin,
    params(("name" = String, Path), ("channel" = String, Path)),
    responses(
        (status = 200, body = Plugin),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn promote(
    State(app): AppState,
    caller: Caller,
    Path((name, channel)): Path<(String, String)>,
    body: Body,
) -> Result<Json<Plugin>, ApiError> {
    caller.need(Scope::PluginsPromote)?;
    let (call, _): (PromotePlugin, _) = body::json(body).await?;
    check_name("channel", &channel, limits::PLUGIN_NAME_BYTES_MAX)
        .map_err(ApiError::bad_request)?;
    if channel.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(ApiError::bad_request(
            "a channel starts with a letter, so that it is no version",
        ));
    }
    let chosen = PluginVersion { tenant: caller.tenant, name: &name, version: &call.version };
    app.store.promote_plugin(chosen, &channel, &caller.actor(), now()).await?;
    app.registry.forget_resolved();
    version(&app, &caller, &name, &call.version).await.map(Json)
}

/// Point a channel to the version that it had before, the last that is not yanked. Runs that are
/// under way keep theirs.
#[utoipa::path(
    post, path = "/v1/plugins/{name}/channels/{channel}/rollback", tag = "plugins",
    params(("name" = String, Path), ("channel" = String, Path)),
    responses(
        (status = 200, body = Plugin),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn roll_back(
    State(app): AppState,
    caller: Caller,
    Path((name, channel)): Path<(String, String)>,
) -> Result<Json<Plugin>, ApiError> {
    caller.need(Scope::PluginsPromote)?;
    let chosen = Channel { tenant: caller.tenant, plugin: &name, channel: &channel };
    let number = app.store.roll_back_channel(chosen, &caller.actor(), now()).await?;
    app.registry.forget_resolved();
    version(&app, &caller, &name, &number).await.map(Json)
}

/// The bytes of a version as they were published.
#[utoipa::path(
    get, path = "/v1/plugins/{name}/versions/{version}/component", tag = "plugins",
    params(("name" = String, Path), ("version" = String, Path)),
    responses(
        (status = 200, body = inline(body::Binary), content_type = "application/wasm"),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn component(
    State(app): AppState,
    caller: Caller,
    Path((name, version)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    caller.need(Scope::PluginsPublish)?;
    let component = app.registry.component(caller.tenant, &name, &version).await?;
    let headers =
        [(header::CONTENT_TYPE, "application/wasm"), (header::CONTENT_DISPOSITION, "attachment")];
    Ok((headers, component).into_response())
}

/// Keep new runs off a version. Runs that use it keep it.
#[utoipa::path(
    post, path = "/v1/plugins/{name}/versions/{version}/yank", tag = "plugins", request_body = YankPlugin,
    params(("name" = String, Path), ("version" = String, Path)),
    responses(
        (status = 200, body = Plugin),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn yank(
    State(app): AppState,
    caller: Caller,
    Path((name, number)): Path<(String, String)>,
    body: Body,
) -> Result<Json<Plugin>, ApiError> {
    caller.need(Scope::PluginsPromote)?;
    let (call, _): (YankPlugin, _) = body::json(body).await?;
    body::check_text("reason", &call.reason, limits::REASON_BYTES_MAX)
        .map_err(ApiError::bad_request)?;
    let chosen = PluginVersion { tenant: caller.tenant, name: &name, version: &number };
    app.store.yank_plugin(chosen, &call.reason, &caller.actor(), now()).await?;
    app.registry.forget_resolved();
    version(&app, &caller, &name, &number).await.map(Json)
}
