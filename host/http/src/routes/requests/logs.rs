//! `GET /v1/requests/{id}/logs`: the lines that the plugin logged for a request.

use assay_api::request::LogLine;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use crate::routes::batches;
use assay_core::id::RequestId;

/// The lines that the plugin logged for a request, over all stages and attempts.
#[utoipa::path(
    get, path = "/v1/requests/{id}/logs", tag = "requests", params(("id" = String, Path)),
    responses((status = 200, body = Vec<LogLine>))
)]
pub(crate) async fn logs(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    PathId(id): PathId<RequestId>,
) -> Result<Json<Vec<LogLine>>, ApiError> {
    batches::kept(&app, caller.tenant, id.batch).await?;
    app.store.request(caller.tenant, id).await?;
    Ok(Json(app.store.logs(caller.tenant, id).await?))
}
