//! `POST /v1/webhooks/{id}/test`: send a message that tells of no incident.

use assay_api::webhook::WebhookDelivery;
use assay_core::id::WebhookId;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// Send a test message within seconds. `GET /v1/webhooks/{id}/deliveries` tells whether it arrived.
#[utoipa::path(
    post, path = "/v1/webhooks/{id}/test", tag = "operations", params(("id" = String, Path)),
    responses((status = 202, body = WebhookDelivery))
)]
pub(crate) async fn test(
    State(app): AppState,
    caller: Scoped<Admin>,
    PathId(id): PathId<WebhookId>,
) -> Result<(StatusCode, Json<WebhookDelivery>), ApiError> {
    let delivery = app.store.test_webhook(caller.tenant, id, now()).await?;
    Ok((StatusCode::ACCEPTED, Json(delivery)))
}
