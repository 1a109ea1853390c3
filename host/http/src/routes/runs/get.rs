//! `GET /v1/runs/{run}`: one run, batch by batch.

use assay_api::view::{Iterations, RunView};
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::plugin::VersionName;
use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;

use crate::app::{App, AppState};
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunQuery {
    /// Number of the run's last batches: 200 when absent, 1,000 at most.
    last: Option<u32>,
    /// Ids of up to 8 batches whose arrival curves are returned, separated by commas; the last
    /// completed ones when absent.
    curves: Option<String>,
}

/// A run, its last batches as columns, and arrival curves of some of them.
#[utoipa::path(
    get, path = "/v1/runs/{run}", tag = "runs", params(("run" = String, Path), RunQuery),
    responses((status = 200, body = RunView))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Path(run): Path<String>,
    Query(query): Query<RunQuery>,
) -> Result<Json<RunView>, ApiError> {
    app.somebody_looks();
    let chosen = query.curves.as_deref().map(batch_ids).transpose()?;
    let last =
        query.last.unwrap_or(limits::RUN_ITERATIONS_DEFAULT).clamp(1, limits::RUN_ITERATIONS_MAX);
    let (run, settings) = app.store.run_summary(caller.tenant, &run).await?;
    let (mut iterations, earlier) =
        app.store.run_iterations(caller.tenant, &run.name, last).await?;
    live_counts(&app, caller.tenant, &mut iterations);
    let curves = app.store.arrival_curves(caller.tenant, &run.name, chosen.as_deref()).await?;
    let promotions = match (iterations.announced_at.first(), VersionName::parse(&run.plugin)) {
        (Some(since), Some(plugin)) => {
            app.store.promotions(caller.tenant, plugin.name, *since).await?
        }
        _ => Vec::new(),
    };
    Ok(Json(RunView { run, settings, iterations, earlier, curves, promotions }))
}

/// Fills in the counts of live batches, which only the committed view has.
fn live_counts(app: &App, tenant: TenantId, iterations: &mut Iterations) {
    for at in 0..iterations.batch.len() {
        let live = iterations.ended_at[at].is_none();
        let committed = live.then(|| app.dispatch.committed.get(tenant, iterations.batch[at]));
        if let Some(batch) = committed.flatten().map(|committed| committed.batch()) {
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
            "curves names {} batches, and the limit is {max}",
            ids.len()
        )));
    }
    Ok(ids)
}
