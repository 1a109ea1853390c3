//! Keys: made, listed, revoked by administrators.

use assay_model::api::{CreateKey, Key, KeyList, Problem, Scope};
use assay_model::id::{KeyId, TenantId};
use assay_model::limits;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;

use super::auth::{Caller, NewSecret};
use super::problem::ApiError;
use super::{App, AppState, body};
use crate::dispatch::now;
use crate::store::keys::NewKey;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TenantQuery {
    /// The tenant's name; your own when absent.
    tenant: Option<String>,
}

async fn tenant(
    app: &App,
    caller: &Caller,
    name: Option<&str>,
) -> Result<(TenantId, String), ApiError> {
    match name {
        None => Ok((caller.tenant, caller.tenant_name.to_string())),
        Some(name) => {
            let tenant = app.store.tenant_by_name(name).await?;
            Ok((tenant.id, tenant.name))
        }
    }
}

/// A tenant's keys, without their secrets.
#[utoipa::path(
    get, path = "/v1/keys", tag = "keys", params(TenantQuery),
    responses(
        (status = 200, body = KeyList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
    Query(query): Query<TenantQuery>,
) -> Result<Json<KeyList>, ApiError> {
    caller.need(Scope::Admin)?;
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    Ok(Json(KeyList { items: app.store.keys(tenant).await? }))
}

/// Make a key. The answer has the whole key, this once.
#[utoipa::path(
    post, path = "/v1/keys", tag = "keys", request_body = CreateKey,
    responses(
        (status = 201, body = Key),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn create(
    State(app): AppState,
    caller: Caller,
    body: Body,
) -> Result<(StatusCode, Json<Key>), ApiError> {
    caller.need(Scope::Admin)?;
    let (call, _): (CreateKey, _) = body::json(body).await?;
    if call.name.len() > limits::KEY_NAME_BYTES_MAX || call.name.chars().any(char::is_control) {
        let max = limits::KEY_NAME_BYTES_MAX;
        return Err(ApiError::bad_request(format!("name must be at most {max} plain characters")));
    }
    if call.scopes.is_empty() {
        return Err(ApiError::bad_request("a key needs at least one scope"));
    }
    let at = now();
    let (tenant_id, tenant) = tenant(&app, &caller, call.tenant.as_deref()).await?;
    let secret = NewSecret::generate(&app.environment);
    let key = NewKey {
        tenant: tenant_id,
        name: &call.name,
        prefix: &secret.prefix,
        secret_hash: secret.hash,
        scopes: &call.scopes,
        created_at: at,
        expires_at: call.expires_at,
    };
    let id = app.store.create_key(key).await?;
    let key = Key {
        id,
        tenant,
        name: call.name,
        prefix: secret.prefix,
        scopes: call.scopes,
        created_at: at,
        expires_at: call.expires_at,
        revoked_at: None,
        secret: Some(secret.key),
    };
    Ok((StatusCode::CREATED, Json(key)))
}

/// Revoke a key at once.
#[utoipa::path(
    post, path = "/v1/keys/{id}/revoke", tag = "keys", params(("id" = String, Path), TenantQuery),
    responses(
        (status = 200, body = Key),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn revoke(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<TenantQuery>,
) -> Result<Json<Key>, ApiError> {
    caller.need(Scope::Admin)?;
    let id: KeyId = id.parse().map_err(|_| ApiError::not_found("key"))?;
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    let prefix = app.store.revoke_key(tenant, id, now()).await?;
    app.keys.forget(&prefix);
    let found = app.store.keys(tenant).await?.into_iter().find(|key| key.id == id);
    found.map(Json).ok_or_else(|| ApiError::not_found("key"))
}
