//! `GET /v1/plugins/{name}/versions/{version}/cases`: the golden cases of a version.

use assay_api::plugin::GoldenCaseList;
use assay_store::plugins::PluginVersion;
use axum::Json;
use axum::extract::{Path, State};

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::problem::ApiError;

/// The golden cases of a version with their results, in the order of their files.
#[utoipa::path(
    get, path = "/v1/plugins/{name}/versions/{version}/cases", tag = "plugins",
    params(("name" = String, Path), ("version" = String, Path)),
    responses((status = 200, body = GoldenCaseList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Path((name, version)): Path<(String, String)>,
) -> Result<Json<GoldenCaseList>, ApiError> {
    app.store.plugin(caller.tenant, &name, &version).await?;
    let chosen = PluginVersion { tenant: caller.tenant, name: &name, version: &version };
    Ok(Json(GoldenCaseList { items: app.store.golden_cases(chosen).await? }))
}
