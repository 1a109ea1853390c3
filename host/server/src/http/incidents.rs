//! What went wrong lately: of a tenant's batches, and of the platform's workers.

use assay_model::api::{Problem, Scope};
use assay_model::operations::{IncidentFilter, IncidentPage};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use super::AppState;
use super::auth::Caller;
use super::problem::ApiError;
use crate::store::operations::Beside;

/// Incidents of your tenant, the latest first; with `platform:*` those of the platform as well. They
/// are kept for 30 days.
#[utoipa::path(
    get, path = "/v1/incidents", tag = "operations", params(IncidentFilter),
    responses(
        (status = 200, body = IncidentPage),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
    filter: Result<Query<IncidentFilter>, QueryRejection>,
) -> Result<Json<IncidentPage>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(filter) = filter.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let beside = beside(&caller, &filter)?;
    Ok(Json(app.store.incidents(caller.tenant, beside, &filter).await?))
}

/// What the caller sees beside the tenant's own.
pub(super) fn beside(caller: &Caller, filter: &IncidentFilter) -> Result<Beside, ApiError> {
    if filter.all {
        caller.need(Scope::Platform)?;
        return Ok(Beside::All);
    }
    Ok(if caller.has(Scope::Platform) { Beside::Platform } else { Beside::Nothing })
}
