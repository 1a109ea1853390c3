//! `GET /v1/plugins/{name}/versions/{version}/component`: download a component.

use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use crate::app::AppState;
use crate::downloads;
use crate::extract::body;
use crate::extract::guard::{PluginsPublish, Scoped};
use crate::problem::ApiError;

/// The bytes of a version as they were published.
#[utoipa::path(
    get, path = "/v1/plugins/{name}/versions/{version}/component", tag = "plugins",
    params(("name" = String, Path), ("version" = String, Path)),
    responses((status = 200, body = inline(body::Binary), content_type = "application/wasm"))
)]
pub(crate) async fn component(
    State(app): AppState,
    caller: Scoped<PluginsPublish>,
    Path((name, version)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let place = downloads::place(&app, caller.tenant).await?;
    let (size, pieces) = app.registry.component(caller.tenant, &name, &version).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/wasm")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::CONTENT_LENGTH, size.into()),
    ];
    Ok((headers, downloads::body(place, pieces)).into_response())
}
