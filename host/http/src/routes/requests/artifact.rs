//! `GET /v1/requests/{id}/artifacts/{stage}`: the bytes that a stage returned for the next one.

use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use crate::app::AppState;
use crate::downloads;
use crate::extract::body::Binary;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use crate::routes::batches;
use assay_core::id::RequestId;

/// The artifact that a stage handed to the next one, by the stage's name.
#[utoipa::path(
    get, path = "/v1/requests/{id}/artifacts/{stage}", tag = "requests",
    params(("id" = String, Path), ("stage" = String, Path)),
    responses(
        (status = 200, body = inline(Binary), content_type = "application/octet-stream"),
    )
)]
pub(crate) async fn artifact(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    PathId(id): PathId<RequestId>,
    Path((_, stage)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    batches::kept(&app, caller.tenant, id.batch).await?;
    let batch = app.store.batch(caller.tenant, id.batch).await?;
    let plugin = app.store.plugin_of_batch(caller.tenant, &batch).await?;
    let number = plugin.description.stages.iter().position(|other| other.name == stage);
    let number = number.ok_or_else(|| ApiError::not_found("stage"))?;
    let place = downloads::place(&app, caller.tenant).await?;
    let artifact = app.store.artifact(caller.tenant, id, number).await?;
    // A tenant's bytes: never to be shown by a browser as anything.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::CONTENT_LENGTH, artifact.bytes.len().into()),
    ];
    let pieces = downloads::pieces(artifact.bytes);
    Ok((headers, downloads::body(place, pieces)).into_response())
}
