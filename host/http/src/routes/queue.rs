//! `GET /v1/queue`: the waiting requests of each pool, batch by batch.

use assay_api::operations::QueueList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::problem::ApiError;

/// The waiting requests of each pool, batch by batch, in the order in which they are served.
#[utoipa::path(
    get, path = "/v1/queue", tag = "operations",
    responses((status = 200, body = QueueList))
)]
pub(crate) async fn get(
    State(app): AppState,
    _: Scoped<Platform>,
) -> Result<Json<QueueList>, ApiError> {
    let observed = app.dispatch.observe().await?;
    Ok(Json(QueueList { at: observed.at, pools: app.dispatch.queues(&observed) }))
}
