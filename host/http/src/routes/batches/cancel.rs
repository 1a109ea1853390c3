//! `POST /v1/batches/{id}/cancel`: everything that has not ended ends as an error.

use std::time::Duration;

use assay_api::batch::Batch;
use assay_dispatch::DispatchError;
use axum::Json;
use axum::extract::State;

use super::{find, until_ended};
use crate::app::AppState;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use assay_core::id::BatchId;

/// Time after which the answer comes even if the cancelled batch has not ended.
const CANCEL_WAIT: Duration = Duration::from_secs(10);

/// Cancel a batch. Requests that have not ended end as errors, without a reward.
#[utoipa::path(
    post, path = "/v1/batches/{id}/cancel", tag = "batches", params(("id" = String, Path)),
    responses((status = 200, body = Batch))
)]
pub(crate) async fn cancel(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    PathId(id): PathId<BatchId>,
) -> Result<Json<Batch>, ApiError> {
    let committed = app.dispatch.committed.get(caller.tenant, id);
    match app.dispatch.cancel(caller.tenant, id).await {
        Ok(()) | Err(DispatchError::NotLive) => {}
        Err(error) => return Err(error.into()),
    }
    match committed {
        Some(committed) => {
            until_ended(&committed, CANCEL_WAIT).await;
            Ok(Json(committed.batch()))
        }
        None => find(&app, caller.tenant, id).await.map(Json),
    }
}
