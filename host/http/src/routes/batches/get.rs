//! `GET /v1/batches/{id}`: a batch now, or once it has ended.

use assay_api::batch::Batch;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;

use super::{find, wait, wait_for_end};
use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use crate::quotas;
use assay_core::id::BatchId;

/// A batch in its current state. With `Prefer: wait=N` the answer comes when the batch has ended,
/// or after N seconds.
#[utoipa::path(
    get, path = "/v1/batches/{id}", tag = "batches",
    params(("id" = String, Path), ("Prefer" = Option<String>, Header, description = "Seconds to wait for the end of the batch, as `wait=60`: 300 at most")),
    responses((status = 200, body = Batch))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    headers: HeaderMap,
    PathId(id): PathId<BatchId>,
) -> Result<Json<Batch>, ApiError> {
    if let (Some(wait), Some(committed)) =
        (wait(&headers), app.dispatch.committed.get(caller.tenant, id))
    {
        let _place = quotas::long_call(&app, caller.tenant)?;
        wait_for_end(&committed, wait).await;
        return Ok(Json(committed.batch()));
    }
    find(&app, caller.tenant, id).await.map(Json)
}
