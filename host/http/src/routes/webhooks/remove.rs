//! `DELETE /v1/webhooks/{id}`: an address is told of nothing any more.

use assay_core::id::WebhookId;
use assay_dispatch::now;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// Remove a webhook with its deliveries. One that is being sent may still arrive.
#[utoipa::path(
    delete, path = "/v1/webhooks/{id}", tag = "operations", params(("id" = String, Path)),
    responses((status = 204))
)]
pub(crate) async fn remove(
    State(app): AppState,
    caller: Scoped<Admin>,
    PathId(id): PathId<WebhookId>,
) -> Result<StatusCode, ApiError> {
    app.store.remove_webhook(caller.tenant, id, &caller.actor(), now()).await?;
    Ok(StatusCode::NO_CONTENT)
}
