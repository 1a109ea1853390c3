//! Keys: made, listed, rotated, revoked by administrators.

use assay_model::api::{CreateKey, Key, KeyList, Problem, RotateKey, Scope};
use assay_model::id::{KeyId, TenantId};
use assay_model::limits;
use assay_model::plugin::check_name;
use assay_model::time::Micros;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;

use super::auth::{Caller, NewSecret};
use super::problem::ApiError;
use super::{App, AppState, body, tenants};
use crate::dispatch::now;
use crate::store::keys::{NewKey, Rotation};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TenantQuery {
    /// The tenant's name; your own when absent.
    pub tenant: Option<String>,
}

async fn tenant(
    app: &App,
    caller: &Caller,
    name: Option<&str>,
) -> Result<(TenantId, String), ApiError> {
    let tenant = tenants::find(app, caller, name.unwrap_or(&caller.tenant_name)).await?;
    Ok((tenant.id, tenant.name))
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
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    Ok(Json(KeyList { items: app.store.keys(tenant, now()).await? }))
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
    caller.administers(&caller.tenant_name)?;
    let (call, _): (CreateKey, _) = body::json(body).await?;
    check(&call)?;
    if call.scopes.contains(&Scope::Platform) {
        // Who administers a tenant does not make himself administrator of all of them.
        caller.need(Scope::Platform)?;
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
        plugins: call.plugins.as_deref(),
        created_at: at,
        expires_at: call.expires_at,
    };
    let id = app.store.create_key(key, &caller.actor()).await?;
    let key = Key {
        id,
        tenant,
        name: call.name,
        prefix: secret.prefix,
        scopes: call.scopes,
        plugins: call.plugins,
        created_at: at,
        expires_at: call.expires_at,
        revoked_at: None,
        last_used_at: None,
        previous_secret_until: None,
        secret: Some(secret.key),
    };
    Ok((StatusCode::CREATED, Json(key)))
}

fn check(call: &CreateKey) -> Result<(), ApiError> {
    if call.name.len() > limits::KEY_NAME_BYTES_MAX || call.name.chars().any(char::is_control) {
        let max = limits::KEY_NAME_BYTES_MAX;
        return Err(ApiError::bad_request(format!("name must be at most {max} plain characters")));
    }
    if call.scopes.is_empty() {
        return Err(ApiError::bad_request("a key needs at least one scope"));
    }
    let Some(plugins) = &call.plugins else { return Ok(()) };
    if plugins.is_empty() || plugins.len() > limits::KEY_PLUGINS_MAX {
        let max = limits::KEY_PLUGINS_MAX;
        return Err(ApiError::bad_request(format!("plugins are 1 to {max}, or absent for all")));
    }
    for plugin in plugins {
        let (name, channel) = plugin.split_once('@').unwrap_or((plugin, "prod"));
        check_name("plugin", name, limits::PLUGIN_NAME_BYTES_MAX)
            .and_then(|()| check_name("channel", channel, limits::PLUGIN_NAME_BYTES_MAX))
            .map_err(|error| ApiError::bad_request(error).hint("write name or name@channel"))?;
    }
    Ok(())
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
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    let id: KeyId = id.parse().map_err(|_| ApiError::not_found("key"))?;
    let key = app.store.revoke_key(tenant, id, &caller.actor(), now()).await?;
    app.keys.forget(&key.prefix);
    Ok(Json(key))
}

/// Give a key another secret; the answer has it, this once. The old one works for a while longer,
/// so that nobody who uses it is cut off.
#[utoipa::path(
    post, path = "/v1/keys/{id}/rotate", tag = "keys", params(("id" = String, Path), TenantQuery),
    request_body = Option<RotateKey>,
    responses(
        (status = 200, body = Key),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn rotate(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<TenantQuery>,
    body: Body,
) -> Result<Json<Key>, ApiError> {
    let (tenant, _) = tenant(&app, &caller, query.tenant.as_deref()).await?;
    let id: KeyId = id.parse().map_err(|_| ApiError::not_found("key"))?;
    let bytes = body::whole(body, "the body", limits::SMALL_BODY_BYTES_MAX).await?;
    let RotateKey { overlap_hours } =
        if bytes.is_empty() { RotateKey::default() } else { body::parse(&bytes)? };
    let max = limits::KEY_OVERLAP_HOURS_MAX;
    if overlap_hours > max {
        return Err(ApiError::bad_request(format!("overlap_hours must be at most {max}")));
    }
    let at = now();
    let key = app.store.key(tenant, id, at).await?;
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
