//! Workers one by one: for the platform's administrators.

use assay_model::api::{Problem, Scope};
use assay_model::id::WorkerId;
use assay_model::operations::{Worker, WorkerList, WorkerState};
use axum::Json;
use axum::extract::{Path, State};

use super::AppState;
use super::auth::Caller;
use super::problem::ApiError;
use crate::dispatch::now;

/// Every worker: what it is and what it runs.
#[utoipa::path(
    get, path = "/v1/workers", tag = "operations",
    responses(
        (status = 200, body = WorkerList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
) -> Result<Json<WorkerList>, ApiError> {
    caller.need(Scope::Platform)?;
    let observed = app.dispatch.observe().await?;
    Ok(Json(WorkerList { at: observed.at, items: app.dispatch.workers(&observed) }))
}

/// Drain a worker: it finishes what it has in hand, gets nothing more and ends. The planner may start
/// another in its place.
#[utoipa::path(
    post, path = "/v1/workers/{id}/drain", tag = "operations", params(("id" = u64, Path)),
    responses(
        (status = 200, body = Worker),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn drain(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Worker>, ApiError> {
    caller.need(Scope::Platform)?;
    let id: u64 = id.parse().map_err(|_| ApiError::not_found("worker"))?;
    let observed = app.dispatch.observe().await?;
    let mut workers = app.dispatch.workers(&observed).into_iter();
    let mut worker = workers.find(|worker| worker.id == Some(id)).ok_or_else(|| {
        ApiError::not_found("worker").hint("GET /v1/workers lists those there are")
    })?;
    app.store.note_drain(WorkerId(id), &worker.pool, &caller.actor(), now()).await?;
    app.dispatch.drain(WorkerId(id)).await?;
    tracing::info!(
        worker.id = id,
        worker.pool = worker.pool,
        "a worker is drained, as it was asked"
    );
    worker.state = WorkerState::Draining;
    Ok(Json(worker))
}
