//! One request with all that is kept of it.

use assay_model::api::{LogLine, Problem, Request, Scope};
use assay_model::id::RequestId;
use assay_wire::proto;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use prost::Message as _;
use serde_json::value::RawValue;

use super::auth::Caller;
use super::body::Binary;
use super::problem::ApiError;
use super::{AppState, batches, context};

pub(super) fn request_id(text: &str) -> Result<RequestId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("request"))
}

/// A request: what came in and, once it has ended, what came out.
#[utoipa::path(
    get, path = "/v1/requests/{id}", tag = "requests", params(("id" = String, Path)),
    responses(
        (status = 200, body = Request),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Request>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let id = request_id(&id)?;
    batches::kept(&app, caller.tenant, id.batch).await?;
    let stored = app.store.request(caller.tenant, id).await?;
    let body = proto::Body::decode(&stored.body[..]).unwrap_or_default();
    let result = app.store.result(caller.tenant, id).await?;
    let result = result.and_then(|json| serde_json::from_str(&json).ok());
    let context =
        context::context(&app, caller.tenant, id, stored.arrived_at, result.as_ref()).await?;
    let json = |text: String| RawValue::from_string(text).ok();
    Ok(Json(Request {
        id,
        key: stored.key,
        group: stored.group,
        prompt: body.prompt,
        response: body.response,
        label: json(body.label),
        metadata: json(body.metadata),
        arrived_at: stored.arrived_at,
        result,
        context: Some(context),
    }))
}

/// What the plugin logged for a request, over all its stages and tries.
#[utoipa::path(
    get, path = "/v1/requests/{id}/logs", tag = "requests", params(("id" = String, Path)),
    responses(
        (status = 200, body = Vec<LogLine>),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn logs(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Vec<LogLine>>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let id = request_id(&id)?;
    batches::kept(&app, caller.tenant, id.batch).await?;
    app.store.request(caller.tenant, id).await?;
    Ok(Json(app.store.logs(caller.tenant, id).await?))
}

/// The bytes that a stage left for the next, by the stage's name.
#[utoipa::path(
    get, path = "/v1/requests/{id}/artifacts/{stage}", tag = "requests",
    params(("id" = String, Path), ("stage" = String, Path)),
    responses(
        (status = 200, body = inline(Binary), content_type = "application/octet-stream"),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn artifact(
    State(app): AppState,
    caller: Caller,
    Path((id, stage)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let id = request_id(&id)?;
    batches::kept(&app, caller.tenant, id.batch).await?;
    let batch = app.store.batch(caller.tenant, id.batch).await?;
    let (name, version) = batch.plugin.split_once('@').unwrap_or((&batch.plugin, ""));
    let plugin = app.store.plugin(caller.tenant, name, version).await?;
    let number = plugin.description.stages.iter().position(|other| other.name == stage);
    let number = number.ok_or_else(|| ApiError::not_found("stage"))?;
    let artifact = app.store.artifact(caller.tenant, id, number).await?;
    // A tenant's bytes: never to be shown by a browser as anything.
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
    ];
    Ok((headers, artifact.bytes).into_response())
}
