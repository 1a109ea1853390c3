//! `POST /v1/session/keys/{id}/revoke`: a personal key that opens nothing any more.

use assay_api::key::Key;
use assay_core::id::KeyId;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::SessionCaller;
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// Revoke one of your personal keys at once.
#[utoipa::path(
    post, path = "/v1/session/keys/{id}/revoke", tag = "session", params(("id" = String, Path)),
    responses((status = 200, body = Key))
)]
pub(crate) async fn revoke(
    State(app): AppState,
    SessionCaller { caller, session }: SessionCaller,
    PathId(id): PathId<KeyId>,
) -> Result<Json<Key>, ApiError> {
    if !app.store.is_key_of(caller.tenant, id, session.row.person).await? {
        return Err(ApiError::not_found("key"));
    }
    let key = app.store.revoke_key(caller.tenant, id, &caller.actor(), now()).await?;
    app.keys.forget(&key.prefix);
    Ok(Json(key))
}
