//! `POST /v1/plugins`: upload a component.

use assay_api::plugin::Plugin;
use assay_core::limits;
use assay_registry::Publisher;
use assay_store::plugins::Published;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;

use super::version;
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{PluginsPublish, Scoped};
use crate::problem::ApiError;
use crate::quotas;

/// Publish a component under the name and version that its `describe` returns. Publishing the same
/// bytes again changes nothing.
#[utoipa::path(
    post, path = "/v1/plugins", tag = "plugins",
    request_body(content = inline(body::Binary), content_type = "application/wasm"),
    responses(
        (status = 201, body = Plugin),
        (status = 200, body = Plugin, description = "These bytes were published before"),
    )
)]
pub(crate) async fn publish(
    State(app): AppState,
    caller: Scoped<PluginsPublish>,
    body: Body,
) -> Result<(StatusCode, Json<Plugin>), ApiError> {
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
