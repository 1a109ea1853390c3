//! `DELETE /v1/workers/remote/{id}`: remove a worker of another machine.

use assay_core::id::TicketId;
use axum::extract::State;
use axum::http::StatusCode;

use super::remote;
use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// Remove a worker of another machine: its connections end at once, its certificate is refused
/// from now on, and its requests run elsewhere.
#[utoipa::path(
    delete, path = "/v1/workers/remote/{id}", tag = "operations", params(("id" = String, Path)),
    responses((status = 204))
)]
pub(crate) async fn remove_remote(
    State(app): AppState,
    caller: Scoped<Platform>,
    PathId(id): PathId<TicketId>,
) -> Result<StatusCode, ApiError> {
    let remote = remote(&app)?;
    app.dispatch.expect_end(id).await?;
    remote.remove(id, &caller.actor()).await?;
    tracing::info!(worker.ticket = %id, "a worker is removed, as it was asked");
    Ok(StatusCode::NO_CONTENT)
}
