//! `POST /v1/batches/{id}/seal`: no more requests will come.

use assay_api::batch::{Batch, SealBatch};
use assay_api::key::Scope;
use assay_core::limits;
use assay_dispatch::DispatchError;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};

use super::{batch_id, find};
use crate::app::AppState;
use crate::auth::Caller;
use crate::extract::body;
use crate::problem::ApiError;

/// Seal a batch: no more requests will come.
#[utoipa::path(
    post, path = "/v1/batches/{id}/seal", tag = "batches", request_body = Option<SealBatch>,
    params(("id" = String, Path)),
    responses((status = 200, body = Batch))
)]
pub(crate) async fn seal(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
    body: Body,
) -> Result<Json<Batch>, ApiError> {
    caller.need(Scope::BatchesWrite)?;
    let id = batch_id(&id)?;
    let bytes = body::whole(body, "the body", limits::SMALL_BODY_BYTES_MAX).await?;
    let call: SealBatch =
        if bytes.is_empty() { SealBatch::default() } else { body::parse(&bytes)? };
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
