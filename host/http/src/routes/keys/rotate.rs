//! `POST /v1/keys/{id}/rotate`: give a key another secret.

use assay_api::key::{Key, RotateKey, Scope};
use assay_core::id::KeyId;
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::now;
use assay_store::keys::Rotation;
use axum::Json;
use axum::extract::State;

use super::tenant;
use crate::app::AppState;
use crate::auth::NewSecret;
use crate::extract::body;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::path::PathId;
use crate::extract::query::Query;
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;
use crate::routes::tenants::TenantQuery;

/// Give a key a new secret, which is shown only once. The old secret still works for
/// `overlap_hours`, so that its users have time to change.
#[utoipa::path(
    post, path = "/v1/keys/{id}/rotate", tag = "keys", params(("id" = String, Path), TenantQuery),
    request_body = Option<RotateKey>,
    responses((status = 200, body = Key))
)]
pub(crate) async fn rotate(
    State(app): AppState,
    caller: Scoped<Admin>,
    PathId(id): PathId<KeyId>,
    Query(query): Query<TenantQuery>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<Json<Key>, ApiError> {
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    let RotateKey { overlap_hours } = body::parse_or_default(&body)?;
    let max = limits::KEY_OVERLAP_HOURS_MAX;
    if overlap_hours > max {
        let detail = format!("overlap_hours must be at most {max}");
        return Err(ApiError::bad_request(detail).field("overlap_hours"));
    }
    let at = now();
    let key = app.store.key(tenant, id, at).await?;
    if key.person.is_some() {
        return Err(ApiError::conflict(
            "personal_key",
            "a personal key belongs to its person alone",
        )
        .hint("revoke it; its person makes another one"));
    }
    if key.scopes.contains(&Scope::Platform) {
        // The new secret is shown to the caller.
        caller.need(Scope::Platform)?;
    }
    let secret = NewSecret::of_prefix(&app.environment, key.prefix);
    let previous_until = at + Micros::from_secs(u64::from(overlap_hours) * 3_600);
    let rotation = Rotation { secret_hash: secret.hash, at, previous_until };
    let mut key = app.store.rotate_key(tenant, id, &rotation, &caller.actor()).await?;
    app.keys.forget(&key.prefix);
    key.secret = Some(secret.key);
    Ok(Json(key))
}
