//! `/v1/session/keys`: the keys that people make for themselves in the tenant of their session. Such a key never
//! opens more than its person's role does at the time of a call (`auth/keys.rs`).

use assay_api::key::{CreateKey, CreatePersonalKey, Key, KeyList, Scope};
use assay_core::id::KeyId;
use assay_dispatch::now;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::SessionCaller;
use crate::extract::page::AdminPage;
use crate::extract::path::PathId;
use crate::problem::ApiError;
use crate::routes::keys::create::{KeyOf, check, make};

/// Your personal keys in the tenant of your session, without their secrets.
#[utoipa::path(
    get, path = "/v1/session/keys", tag = "session", params(AdminPage<KeyId>),
    responses((status = 200, body = KeyList))
)]
pub(crate) async fn list(
    State(app): AppState,
    SessionCaller { caller, session }: SessionCaller,
    page: AdminPage<KeyId>,
) -> Result<Json<KeyList>, ApiError> {
    let person = Some(session.row.person);
    let items = app.store.keys(caller.tenant, person, &page.rows(None), now()).await?;
    let next = page.next(&items, |last| last.id.to_string());
    Ok(Json(KeyList { items, next }))
}

/// Create a personal key. It gives what both its scopes and your role in the tenant allow, and stops
/// working when you are no longer a member. The answer has the whole key, which is shown only once.
#[utoipa::path(
    post, path = "/v1/session/keys", tag = "session", request_body = CreatePersonalKey,
    responses((status = 201, body = Key))
)]
pub(crate) async fn create(
    State(app): AppState,
    SessionCaller { caller, session }: SessionCaller,
    body: Body,
) -> Result<(StatusCode, Json<Key>), ApiError> {
    let (CreatePersonalKey { name, scopes, expires_at, plugins }, _) = body::json(body).await?;
    let call = CreateKey { tenant: None, name, scopes, expires_at, plugins };
    check(&call)?;
    if let Some(scope) = call.scopes.iter().find(|&&scope| !is_personal(scope)) {
        let detail = format!("a personal key cannot have the scope `{}`", scope.as_str());
        return Err(ApiError::bad_request(detail)
            .field("scopes")
            .hint("an administrator creates keys of the tenant: POST /v1/keys"));
    }
    for &scope in &call.scopes {
        caller.need(scope).map_err(|error| error.field("scopes"))?;
    }
    let of = KeyOf {
        tenant: caller.tenant,
        tenant_name: caller.tenant_name.to_string(),
        person: Some((session.row.person, session.row.email.clone())),
    };
    Ok((StatusCode::CREATED, Json(make(&app, of, call, &caller.actor()).await?)))
}

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

/// Whether a personal key may have the scope: programs of one person administer nothing.
fn is_personal(scope: Scope) -> bool {
    !matches!(scope, Scope::Admin | Scope::Platform)
}
