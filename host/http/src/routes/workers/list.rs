//! `GET /v1/workers`: every worker.

use assay_api::operations::WorkerList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::problem::ApiError;

/// Every worker, with its state and the stage that it runs.
#[utoipa::path(
    get, path = "/v1/workers", tag = "operations",
    responses((status = 200, body = WorkerList))
)]
pub(crate) async fn list(
    State(app): AppState,
    _: Scoped<Platform>,
) -> Result<Json<WorkerList>, ApiError> {
    let observed = app.dispatch.observe().await?;
    Ok(Json(WorkerList { at: observed.at, items: app.dispatch.workers(&observed) }))
}
