//! `POST /v1/batches/{id}/seal`: no more requests will come.

use assay_api::batch::{Batch, SealBatch};
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
use assay_core::id::BatchId;

/// Seal a batch: no more requests will come.
#[utoipa::path(
    post, path = "/v1/batches/{id}/seal", tag = "batches", request_body = Option<SealBatch>,
    params(("id" = String, Path)),
    responses((status = 200, body = Batch))
)]
pub(crate) async fn seal(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    PathId(id): PathId<BatchId>,
    body: Body,
) -> Result<Json<Batch>, ApiError> {
    let call: SealBatch = body::json_or_default(body).await?;
    may_change(&app, &caller, id).await?;
    match app.dispatch.seal(caller.tenant, id, call.final_count).await {
        Ok(()) => find(&app, caller.tenant, id).await.map(Json),
        // Sealing what has ended in the meantime is a harmless repeat.
        Err(DispatchError::NotLive) => {
            let batch = find(&app, caller.tenant, id).await?;
            let have = batch.counts.submitted;
            match call.final_count.filter(|&want| want != have) {
                Some(want) => Err(DispatchError::CountDiffers { have, want }.into()),
                None => Ok(Json(batch)),
            }
        }
        Err(error) => Err(error.into()),
    }
}
