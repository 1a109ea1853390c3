//! `POST /v1/batches/{id}/cancel`: everything that has not ended ends as an error.

use std::time::Duration;

use assay_api::batch::Batch;
use assay_dispatch::DispatchError;
use axum::Json;
use axum::extract::State;

use super::{find, may_change, wait_for_end};
use crate::app::AppState;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use assay_core::id::BatchId;

/// Time after which the answer comes even if the cancelled batch has not ended, or is still to be read back.
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
    may_change(&app, &caller, id).await?;
    let live = app.dispatch.committed.get(caller.tenant, id);
    let cancelling = app.dispatch.cancel(caller.tenant, id);
    match tokio::time::timeout(CANCEL_WAIT, cancelling).await {
        Ok(Ok(()) | Err(DispatchError::NotLive)) | Err(_) => {}
        Ok(Err(error)) => return Err(error.into()),
    }
    // A batch that waited for its plugin is live since it was cancelled.
    let live = live.or_else(|| app.dispatch.committed.get(caller.tenant, id));
    match live {
        Some(committed) => {
            wait_for_end(&committed, CANCEL_WAIT).await;
            Ok(Json(committed.batch()))
        }
        None => find(&app, caller.tenant, id).await.map(Json),
    }
}
