//! `GET /v1/runs/{run}/history`: the completed batches of a run.

use assay_api::history::RunHistory;
use assay_core::limits;
use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::query::Query;
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
    caller: Scoped<BatchesRead>,
    Path(run): Path<String>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<RunHistory>, ApiError> {
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
