//! `GET /v1/plugins/{name}/versions/{version}/stats`: the last batches of a version, summed up.

use assay_api::view::PluginStats;
use assay_core::time::Micros;
use assay_store::views::Span;
use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
    /// Earliest end of the batches, inclusive.
    #[param(value_type = Option<String>)]
    from: Option<Micros>,
    /// Latest end of the batches, exclusive.
    #[param(value_type = Option<String>)]
    to: Option<Micros>,
}

/// Stage times, verdicts, outcomes and runs of a plugin version, over its last 200 batches.
#[utoipa::path(
    get, path = "/v1/plugins/{name}/versions/{version}/stats", tag = "plugins",
    params(("name" = String, Path), ("version" = String, Path), StatsQuery),
    responses((status = 200, body = PluginStats))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Path((name, version)): Path<(String, String)>,
    Query(query): Query<StatsQuery>,
) -> Result<Json<PluginStats>, ApiError> {
    app.store.plugin(caller.tenant, &name, &version).await?;
    let ended = Span { from: query.from, to: query.to };
    Ok(Json(app.store.plugin_stats(caller.tenant, &name, &version, ended).await?))
}
