//! `GET /v1/webhooks`: the addresses that are told of incidents.

use assay_api::webhook::{WebhookList, webhook_target};
use axum::Json;
use axum::extract::State;

use super::shown;
use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::problem::ApiError;

/// The webhooks of your tenant, each with its latest delivery.
#[utoipa::path(
    get, path = "/v1/webhooks", tag = "operations",
    responses((status = 200, body = WebhookList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<Admin>,
) -> Result<Json<WebhookList>, ApiError> {
    let mut items = app.store.webhooks(caller.tenant).await?;
    for webhook in &mut items {
        webhook.to = webhook_target(&webhook.to).map_or_else(|_| String::new(), |to| shown(&to));
    }
    Ok(Json(WebhookList { items }))
}
