//! `GET /v1/capacity`: every pool with its bounds, workers, queue and plan.

use assay_api::capacity::Capacity;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::problem::ApiError;

/// Every pool with its bounds, workers and queue, and the planner's target with its reason.
#[utoipa::path(
    get, path = "/v1/capacity", tag = "capacity",
    responses((status = 200, body = Capacity))
)]
pub(crate) async fn list(
    State(app): AppState,
    _: Scoped<Platform>,
) -> Result<Json<Capacity>, ApiError> {
    Ok(Json(app.dispatch.capacity().await?))
}
