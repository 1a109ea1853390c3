//! Training runs for their readers: the list, and one run iteration by iteration.

use assay_model::api::{Problem, Scope};
use assay_model::id::{BatchId, TenantId};
use assay_model::limits;
use assay_model::time::Micros;
use assay_model::view::{Iterations, RunList, RunView};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::auth::Caller;
use super::problem::ApiError;
use super::{App, AppState, body};
use crate::store::views::Span;
use crate::store::views::runs::{RunCursor, RunFilter};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RunsQuery {
    /// A part of the run's name.
    q: Option<String>,
    /// The plugin's name.
    plugin: Option<String>,
    /// Active at this moment or later.
    #[param(value_type = Option<String>)]
    from: Option<Micros>,
    /// Active before this moment.
    #[param(value_type = Option<String>)]
    to: Option<Micros>,
    /// The `next` of the page before.
    after: Option<String>,
    /// At most this many; 100 when absent, 500 at most.
    limit: Option<u32>,
}

/// Training runs, the one that was active last first: when its last batch ended, or when it began.
#[utoipa::path(
    get, path = "/v1/runs", tag = "runs", params(RunsQuery),
    responses(
        (status = 200, body = RunList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
    query: Result<Query<RunsQuery>, QueryRejection>,
) -> Result<Json<RunList>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let after = query.after.as_deref().map(|after| {
        RunCursor::parse(after).ok_or_else(|| ApiError::bad_request("after is no page's `next`"))
    });
    let filter = RunFilter {
        name: body::search(query.q)?,
        plugin: query.plugin,
        active: Span { from: query.from, to: query.to },
        after: after.transpose()?,
        limit: limit(query.limit),
    };
    let (items, next) = app.store.runs(caller.tenant, &filter).await?;
    Ok(Json(RunList { items, next: next.map(|next| next.to_string()) }))
}

/// How many rows of a list are wanted.
pub(super) fn limit(asked: Option<u32>) -> u32 {
    asked.unwrap_or(limits::LIST_ITEMS_DEFAULT).clamp(1, limits::LIST_ITEMS_MAX)
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RunQuery {
    /// So many of its last batches; 200 when absent, 1,000 at most.
    last: Option<u32>,
    /// Batches whose arrival curves are wanted, separated by commas, at most 8; the last ones that
    /// were completed when absent.
    curves: Option<String>,
}

/// One run, its last batches as columns, and arrival curves of some of them.
#[utoipa::path(
    get, path = "/v1/runs/{run}", tag = "runs", params(("run" = String, Path), RunQuery),
    responses(
        (status = 200, body = RunView),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    State(app): AppState,
    caller: Caller,
    Path(run): Path<String>,
    query: Result<Query<RunQuery>, QueryRejection>,
) -> Result<Json<RunView>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let chosen = query.curves.as_deref().map(batch_ids).transpose()?;
    let last =
        query.last.unwrap_or(limits::RUN_ITERATIONS_DEFAULT).clamp(1, limits::RUN_ITERATIONS_MAX);
    let (run, settings) = app.store.run_summary(caller.tenant, &run).await?;
    let (mut iterations, earlier) =
        app.store.run_iterations(caller.tenant, &run.name, last).await?;
    live_counts(&app, caller.tenant, &mut iterations);
    let curves = app.store.arrival_curves(caller.tenant, &run.name, chosen.as_deref()).await?;
    Ok(Json(RunView { run, settings, iterations, earlier, curves }))
}

/// The rows of live batches have no counts yet; the board has.
fn live_counts(app: &App, tenant: TenantId, iterations: &mut Iterations) {
    for at in 0..iterations.batch.len() {
        let live = iterations.ended_at[at].is_none();
        let published = live.then(|| app.dispatch.board.get(tenant, iterations.batch[at]));
        if let Some(batch) = published.flatten().map(|published| published.batch()) {
            iterations.state[at] = batch.state;
            iterations.counts[at] = batch.counts;
            iterations.mean[at] = batch.mean_reward;
        }
    }
}

fn batch_ids(text: &str) -> Result<Vec<BatchId>, ApiError> {
    let ids = text.split(',').filter(|id| !id.is_empty()).map(str::parse);
    let ids = ids.collect::<Result<Vec<BatchId>, _>>();
    let ids = ids.map_err(|error| ApiError::bad_request(format!("curves: {error}")))?;
    if ids.len() > limits::RUN_CURVES_MAX {
        let max = limits::RUN_CURVES_MAX;
        return Err(ApiError::bad_request(format!(
            "curves names {} batches, not at most {max}",
            ids.len()
        )));
    }
    Ok(ids)
}
