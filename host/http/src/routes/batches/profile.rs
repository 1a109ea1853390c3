//! `GET /v1/batches/{id}/profile`: the arrival and stage times of a completed batch.

use assay_api::history::BatchProfile;
use assay_store::StoreError;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use crate::routes::batches;
use assay_core::id::BatchId;

/// The arrival and stage times of the requests of a completed batch.
#[utoipa::path(
    get, path = "/v1/batches/{id}/profile", tag = "batches", params(("id" = String, Path)),
    responses((status = 200, body = BatchProfile))
)]
pub(crate) async fn profile(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    PathId(id): PathId<BatchId>,
) -> Result<Json<BatchProfile>, ApiError> {
    match app.store.batch_profile(caller.tenant, id).await {
        Ok(profile) => Ok(Json(profile)),
        Err(StoreError::NotFound(what)) => {
            let batch = batches::find(&app, caller.tenant, id).await?;
            if !batch.state.is_final() {
                return Err(ApiError::conflict("batch_not_done", "the batch has not ended")
                    .hint("ask for the profile when the batch is done"));
            }
            Err(ApiError::not_found(what).hint(
                "cancelled and expired batches, single requests, and batches older than the \
                 retention of history have no profile",
            ))
        }
        Err(error) => Err(error.into()),
    }
}
