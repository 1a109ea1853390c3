//! `POST /v1/webhooks`: tell an address of incidents.

use assay_api::key::Scope;
use assay_api::people::PLATFORM_TENANT;
use assay_api::webhook::{CreateWebhook, Webhook};
use assay_core::outbound::{HostPattern, grant};
use assay_dispatch::now;
use assay_store::webhooks::NewWebhook;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::shown;
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Admin, Scoped};
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;
use crate::random::random;

/// The bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Tell an address of incidents. The answer has the key of the signatures, which is shown only once. The host must
/// have been granted to your tenant (`assay tenant set NAME --hosts`).
#[utoipa::path(
    post, path = "/v1/webhooks", tag = "operations", request_body = CreateWebhook,
    responses((status = 201, body = Webhook))
)]
pub(crate) async fn create(
    State(app): AppState,
    caller: Scoped<Admin>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<(StatusCode, Json<Webhook>), ApiError> {
    let call: CreateWebhook = body::parse(&body)?;
    let target = call.check()?;
    if call.platform {
        caller.need(Scope::Platform)?;
        if *caller.tenant_name != *PLATFORM_TENANT {
            return Err(not_the_platforms(&caller.tenant_name));
        }
    }
    let to = shown(&target);
    let settings = app.dispatch.tenants.get(caller.tenant);
    let hosts: Vec<HostPattern> =
        settings.grants.hosts.iter().filter_map(|host| host.parse().ok()).collect();
    if grant(&hosts, &target).is_none() {
        let detail = format!("{to} is not granted to your tenant");
        return Err(ApiError::new(StatusCode::FORBIDDEN, "not_granted", detail)
            .hint("ask the platform's administrators; `assay tenant set NAME --hosts` grants it")
            .field("url"));
    }
    let secret = random::<SECRET_BYTES>();
    let new =
        NewWebhook { tenant: caller.tenant, call: &call, to: &to, secret: &secret, at: now() };
    let made = app.store.create_webhook(new, &caller.actor()).await?;
    let secret = Some(format!("whsec_{}", STANDARD.encode(secret)));
    Ok((StatusCode::CREATED, Json(Webhook { secret, ..made })))
}

/// The administrators of the tenant would read the platform's incidents.
fn not_the_platforms(tenant: &str) -> ApiError {
    let detail =
        format!("a webhook of the tenant `{tenant}` is not told of the platform's incidents");
    ApiError::new(StatusCode::FORBIDDEN, "not_granted", detail)
        .hint(format!("add the webhook to the tenant `{PLATFORM_TENANT}`, with a key of it"))
        .field("platform")
}
