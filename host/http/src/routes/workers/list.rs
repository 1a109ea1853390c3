//! `GET /v1/workers`: every worker.

use assay_api::key::Scope;
use assay_api::operations::WorkerList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::auth::Caller;
use crate::problem::ApiError;

/// Every worker, with its state and the stage that it runs.
#[utoipa::path(
    get, path = "/v1/workers", tag = "operations",
    responses((status = 200, body = WorkerList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Caller,
) -> Result<Json<WorkerList>, ApiError> {
    caller.need(Scope::Platform)?;
    let observed = app.dispatch.observe().await?;
    Ok(Json(WorkerList { at: observed.at, items: app.dispatch.workers(&observed) }))
}
