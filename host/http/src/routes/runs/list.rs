//! `GET /v1/runs`: training runs, the one that was active last first.

use assay_api::view::RunList;
use assay_core::time::Micros;
use assay_store::views::Span;
use assay_store::views::runs::{RunCursor, RunFilter};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::page::Page;
use crate::extract::query::Query;
use crate::problem::ApiError;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunsQuery {
    /// Part of the run's name.
    q: Option<String>,
    /// Name of the plugin.
    plugin: Option<String>,
    /// Earliest time of activity, inclusive.
    #[param(value_type = Option<String>)]
    from: Option<Micros>,
    /// Latest time of activity, exclusive.
    #[param(value_type = Option<String>)]
    to: Option<Micros>,
}

/// Training runs, the one that was active last first. A run is active when it begins and when a
/// batch ends.
#[utoipa::path(
    get, path = "/v1/runs", tag = "runs", params(RunsQuery, Page<RunCursor>),
    responses((status = 200, body = RunList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Query(query): Query<RunsQuery>,
    page: Page<RunCursor>,
) -> Result<Json<RunList>, ApiError> {
    let filter = RunFilter {
        name: body::search(query.q)?,
        plugin: query.plugin,
        active: Span { from: query.from, to: query.to },
        after: page.after,
        limit: page.limit,
    };
    let (items, next) = app.store.runs(caller.tenant, &filter).await?;
    Ok(Json(RunList { items, next: next.map(|next| next.to_string()) }))
}
