//! What a plugin version did in its last batches, summed up from their roll-ups.

use assay_model::api::{Problem, Scope};
use assay_model::time::Micros;
use assay_model::view::PluginStats;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::AppState;
use super::auth::Caller;
use super::problem::ApiError;
use crate::store::views::Span;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct StatsQuery {
    /// Batches that ended at this moment or later.
    #[param(value_type = Option<String>)]
    from: Option<Micros>,
    /// Batches that ended before this moment.
    #[param(value_type = Option<String>)]
    to: Option<Micros>,
}

/// Stage times, verdicts, outcomes and runs of a plugin version, over its last 200 batches.
#[utoipa::path(
    get, path = "/v1/plugins/{name}/versions/{version}/stats", tag = "plugins",
    params(("name" = String, Path), ("version" = String, Path), StatsQuery),
    responses(
        (status = 200, body = PluginStats),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    State(app): AppState,
    caller: Caller,
    Path((name, version)): Path<(String, String)>,
    query: Result<Query<StatsQuery>, QueryRejection>,
) -> Result<Json<PluginStats>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    app.store.plugin(caller.tenant, &name, &version).await?;
    let ended = Span { from: query.from, to: query.to };
    Ok(Json(app.store.plugin_stats(caller.tenant, &name, &version, ended).await?))
}
