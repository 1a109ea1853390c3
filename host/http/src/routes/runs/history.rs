//! `GET /v1/runs/{run}/history`: the completed batches of a run.

use assay_api::history::RunHistory;
use assay_api::key::Scope;
use assay_core::limits;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use crate::app::AppState;
use crate::auth::Caller;
use crate::problem::ApiError;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    /// Maximum number of items: 100 when absent, 1,000 at most.
    limit: Option<u32>,
}

/// Completed batches of a run, the latest first.
#[utoipa::path(
    get, path = "/v1/runs/{run}/history", tag = "runs",
    params(("run" = String, Path), HistoryQuery),
    responses((status = 200, body = RunHistory))
)]
pub(crate) async fn history(
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
