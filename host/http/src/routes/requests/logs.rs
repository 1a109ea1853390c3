//! `GET /v1/requests/{id}/logs`: the lines that the plugin logged for a request.

use assay_api::key::Scope;
use assay_api::request::LogLine;
use axum::Json;
use axum::extract::{Path, State};

use super::request_id;
use crate::app::AppState;
use crate::auth::Caller;
use crate::problem::ApiError;
use crate::routes::batches;

/// The lines that the plugin logged for a request, over all stages and attempts.
#[utoipa::path(
    get, path = "/v1/requests/{id}/logs", tag = "requests", params(("id" = String, Path)),
    responses((status = 200, body = Vec<LogLine>))
)]
pub(crate) async fn logs(
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
