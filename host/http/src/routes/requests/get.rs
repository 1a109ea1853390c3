//! `GET /v1/requests/{id}`: a request and, once it has ended, its outcome.

mod context;

use assay_api::request::Request;
use assay_wire::proto;
use axum::Json;
use axum::extract::State;
use prost::Message as _;
use serde_json::value::RawValue;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use crate::routes::batches;
use assay_core::id::RequestId;

/// A request and, once it has ended, its outcome.
#[utoipa::path(
    get, path = "/v1/requests/{id}", tag = "requests", params(("id" = String, Path)),
    responses((status = 200, body = Request))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    PathId(id): PathId<RequestId>,
) -> Result<Json<Request>, ApiError> {
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
