//! `GET /v1/incidents`: the latest incidents.

use assay_api::operations::{IncidentFilter, IncidentPage};
use axum::Json;
use axum::extract::State;

use super::beside;
use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;

/// Incidents of your tenant, the latest first; with `platform:*` also those of the platform. They
/// are kept for 30 days.
#[utoipa::path(
    get, path = "/v1/incidents", tag = "operations", params(IncidentFilter),
    responses((status = 200, body = IncidentPage))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Query(filter): Query<IncidentFilter>,
) -> Result<Json<IncidentPage>, ApiError> {
    let beside = beside(&caller, &filter)?;
    Ok(Json(match filter.grouped {
        true => app.store.grouped_incidents(caller.tenant, beside, &filter).await?,
        false => app.store.incidents(caller.tenant, beside, &filter).await?,
    }))
}
