//! `GET /v1/queue`: the waiting requests of each pool, batch by batch.

use assay_api::key::Scope;
use assay_api::operations::QueueList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::auth::Caller;
use crate::problem::ApiError;

/// The waiting requests of each pool, batch by batch, in the order in which they are served.
#[utoipa::path(
    get, path = "/v1/queue", tag = "operations",
    responses((status = 200, body = QueueList))
)]
pub(crate) async fn get(State(app): AppState, caller: Caller) -> Result<Json<QueueList>, ApiError> {
    caller.need(Scope::Platform)?;
    let observed = app.dispatch.observe().await?;
    Ok(Json(QueueList { at: observed.at, pools: app.dispatch.queues(&observed) }))
}
