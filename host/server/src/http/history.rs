//! What completed batches leave: a batch's profile, a run's history.

use assay_model::api::{Problem, Scope};
use assay_model::history::{BatchProfile, RunHistory};
use assay_model::limits;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, batches};
use crate::store::StoreError;

/// When the requests of a completed batch came and how long each stage of them ran.
#[utoipa::path(
    get, path = "/v1/batches/{id}/profile", tag = "batches", params(("id" = String, Path)),
    responses(
        (status = 200, body = BatchProfile),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn profile(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<BatchProfile>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let id = batches::batch_id(&id)?;
    match app.store.batch_profile(caller.tenant, id).await {
        Ok(profile) => Ok(Json(profile)),
        Err(StoreError::NotFound(what)) => {
            let batch = batches::find(&app, caller.tenant, id).await?;
            if !batch.state.is_final() {
                return Err(ApiError::conflict("batch_not_done", "the batch has not ended")
                    .hint("a profile is there as soon as the batch is done"));
            }
            Err(ApiError::not_found(what).hint(
                "batches that were cancelled or expired, single rewards, and batches older than \
                 the server keeps history have none",
            ))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct HistoryQuery {
    /// At most this many; 100 when absent, 1,000 at most.
    limit: Option<u32>,
}

/// Completed batches of a run, the latest first.
#[utoipa::path(
    get, path = "/v1/runs/{run}/history", tag = "runs",
    params(("run" = String, Path), HistoryQuery),
    responses(
        (status = 200, body = RunHistory),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn run(
    State(app): AppState,
    caller: Caller,
    Path(run): Path<String>,
    query: Result<Query<HistoryQuery>, QueryRejection>,
) -> Result<Json<RunHistory>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let limit = query
        .limit
        .unwrap_or(limits::RUN_HISTORY_ITEMS_DEFAULT)
        .clamp(1, limits::RUN_HISTORY_ITEMS_MAX);
    if app.store.run(caller.tenant, &run).await?.is_none() {
        return Err(ApiError::not_found("run"));
    }
    let items = app.store.run_history(caller.tenant, &run, limit).await?;
    Ok(Json(RunHistory { items }))
}
