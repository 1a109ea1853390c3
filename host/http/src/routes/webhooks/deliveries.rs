//! `GET /v1/webhooks/{id}/deliveries`: what was sent, and whether it arrived.

use assay_api::webhook::WebhookDeliveryList;
use assay_core::id::WebhookId;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// The latest deliveries to a webhook. They are kept for 30 days.
#[utoipa::path(
    get, path = "/v1/webhooks/{id}/deliveries", tag = "operations", params(("id" = String, Path)),
    responses((status = 200, body = WebhookDeliveryList))
)]
pub(crate) async fn deliveries(
    State(app): AppState,
    caller: Scoped<Admin>,
    PathId(id): PathId<WebhookId>,
) -> Result<Json<WebhookDeliveryList>, ApiError> {
    let items = app.store.webhook_deliveries(caller.tenant, id).await?;
    Ok(Json(WebhookDeliveryList { items }))
}
