//! `GET /v1/session`: the caller, and the tenants to switch to.

use assay_api::people::{Session, SessionKey};
use assay_store::audit::Actor;
use axum::Json;
use axum::extract::State;

use super::show;
use crate::app::AppState;
use crate::auth::Caller;
use crate::problem::ApiError;

/// The caller, their scopes, and the tenants to which they can switch.
#[utoipa::path(
    get, path = "/v1/session", tag = "session",
    responses((status = 200, body = Session))
)]
pub(crate) async fn get(State(app): AppState, caller: Caller) -> Result<Json<Session>, ApiError> {
    if let Some(session) = caller.session() {
        return Ok(Json(show(&app, &session.token).await?));
    }
    let key = match caller.actor() {
        Actor::Key { id, name, .. } => Some(SessionKey { id, name }),
        Actor::Person { .. } | Actor::Platform => None,
    };
    Ok(Json(Session {
        person: None,
        key,
        tenant: caller.tenant_name.to_string(),
        role: None,
        scopes: caller.scopes().to_vec(),
        csrf: None,
        expires_at: None,
        tenants: Vec::new(),
    }))
}
