//! `POST /v1/workers/{id}/drain`: let a worker finish and end.

use assay_api::operations::{Worker, WorkerState};
use assay_core::id::WorkerId;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// Drain a worker: it finishes its leases, gets no new ones, and ends. The planner may start
/// another worker in its place.
#[utoipa::path(
    post, path = "/v1/workers/{id}/drain", tag = "operations", params(("id" = u64, Path)),
    responses((status = 200, body = Worker))
)]
pub(crate) async fn drain(
    State(app): AppState,
    caller: Scoped<Platform>,
    PathId(id): PathId<WorkerId>,
) -> Result<Json<Worker>, ApiError> {
    let observed = app.dispatch.observe().await?;
    let mut workers = app.dispatch.workers(&observed).into_iter();
    let mut worker = workers.find(|worker| worker.id == Some(id.0)).ok_or_else(|| {
        ApiError::not_found("worker").hint("GET /v1/workers lists those there are")
    })?;
    app.store.note_drain(id, &worker.pool, &caller.actor(), now()).await?;
    app.dispatch.drain(id).await?;
    tracing::info!(
        worker.id = id.0,
        worker.pool = worker.pool,
        "a worker is drained, as it was asked"
    );
    worker.state = WorkerState::Draining;
    Ok(Json(worker))
}
