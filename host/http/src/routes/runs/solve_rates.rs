//! `GET /v1/runs/{run}/solve-rates`: how often a prompt was solved, batch by batch.

use assay_api::sample::SolveRates;
use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;

/// The characters of a group's name, which none exceeds.
const GROUP_CHARS_MAX: usize = 1_024;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SolveRatesQuery {
    /// Name of the group: a prompt with its samples.
    #[param(min_length = 1, max_length = 1024)]
    group: String,
}

/// The solve rate of one prompt over the batches of a run: how many samples of the group have a reward, and how many
/// passed. It is read from the samples that are prepared after the end of a batch, of the last 20,000 of the group.
#[utoipa::path(
    get, path = "/v1/runs/{run}/solve-rates", tag = "runs",
    params(("run" = String, Path), SolveRatesQuery),
    responses((status = 200, body = SolveRates))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Path(run): Path<String>,
    Query(query): Query<SolveRatesQuery>,
) -> Result<Json<SolveRates>, ApiError> {
    app.somebody_looks();
    let SolveRatesQuery { group } = query;
    if group.is_empty() || group.chars().count() > GROUP_CHARS_MAX || group.contains('\0') {
        let detail =
            format!("group is empty, has a NUL, or more than {GROUP_CHARS_MAX} characters");
        return Err(ApiError::bad_request(detail));
    }
    let tenant = caller.tenant;
    app.store.run(tenant, &run).await?.ok_or_else(|| ApiError::not_found("run"))?;
    let _permit = app.sample_lists.acquire(tenant, 1).await;
    Ok(Json(app.store.solve_rates(tenant, &run, group).await?))
}
