//! `POST /v1/incidents/{id}/reopen`: it is open again.

use axum::extract::State;
use axum::http::StatusCode;

use super::{IncidentNumber, visible};
use crate::app::AppState;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// Take the acknowledgement of an incident back, with that of those like it.
#[utoipa::path(
    post, path = "/v1/incidents/{id}/reopen", tag = "operations", params(("id" = i64, Path)),
    responses((status = 204))
)]
pub(crate) async fn reopen(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    PathId(incident): PathId<IncidentNumber>,
) -> Result<StatusCode, ApiError> {
    app.store.reopen_incident(caller.tenant, visible(&caller), incident.0).await?;
    Ok(StatusCode::NO_CONTENT)
}
