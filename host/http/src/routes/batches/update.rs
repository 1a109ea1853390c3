//! `PATCH /v1/batches/{id}`: what the trainer knows now of the requests that are to come.

use assay_api::batch::{Batch, UpdateBatch};
use assay_core::id::BatchId;
use assay_core::limits::BATCH_REQUESTS_MAX;
use assay_dispatch::DispatchError;
use axum::Json;
use axum::body::Body;
use axum::extract::State;

use super::{find, may_change};
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// Tell how many rollouts of a batch still run. Workers are planned for as many requests, until the trainer tells another
/// number. It seals nothing, and a server that restarts does not know it any more.
#[utoipa::path(
    patch, path = "/v1/batches/{id}", tag = "batches", request_body = UpdateBatch,
    params(("id" = String, Path)),
    responses((status = 200, body = Batch))
)]
pub(crate) async fn update(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    PathId(id): PathId<BatchId>,
    body: Body,
) -> Result<Json<Batch>, ApiError> {
    let (call, _): (UpdateBatch, _) = body::json(body).await?;
    may_change(&app, &caller, id).await?;
    if let Some(outstanding) = call.outstanding {
        if outstanding > BATCH_REQUESTS_MAX {
            let detail = format!(
                "outstanding is {outstanding}, but a batch has at most {BATCH_REQUESTS_MAX} requests"
            );
            return Err(ApiError::bad_request(detail));
        }
        match app.dispatch.tell_outstanding(caller.tenant, id, outstanding).await {
            // A batch that has ended in the meantime expects nothing more.
            Ok(()) | Err(DispatchError::NotLive) => {}
            Err(error) => return Err(error.into()),
        }
    }
    find(&app, caller.tenant, id).await.map(Json)
}
