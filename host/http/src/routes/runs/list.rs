//! `GET /v1/runs`: training runs, the one that was active last first.

use assay_api::key::Scope;
use assay_api::view::RunList;
use assay_core::time::Micros;
use assay_store::views::Span;
use assay_store::views::runs::{RunCursor, RunFilter};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;

use crate::app::AppState;
use crate::auth::Caller;
use crate::extract::{body, page};
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
    /// Cursor: the `next` of the previous page.
    after: Option<String>,
    /// Maximum number of items: 100 when absent, 500 at most.
    limit: Option<u32>,
}

/// Training runs, the one that was active last first. A run is active when it begins and when a
/// batch ends.
#[utoipa::path(
    get, path = "/v1/runs", tag = "runs", params(RunsQuery),
    responses((status = 200, body = RunList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Caller,
    query: Result<Query<RunsQuery>, QueryRejection>,
) -> Result<Json<RunList>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let after = query.after.as_deref().map(|after| {
        RunCursor::parse(after)
            .ok_or_else(|| ApiError::bad_request("after must be the `next` of a previous page"))
    });
    let filter = RunFilter {
        name: body::search(query.q)?,
        plugin: query.plugin,
        active: Span { from: query.from, to: query.to },
        after: after.transpose()?,
        limit: page::limit(query.limit),
    };
    let (items, next) = app.store.runs(caller.tenant, &filter).await?;
    Ok(Json(RunList { items, next: next.map(|next| next.to_string()) }))
}
