//! `POST /v1/keys`: create a key; the answer has its secret once.

use assay_api::key::{CreateKey, Key, Scope};
use assay_core::id::{PersonId, TenantId};
use assay_core::limits;
use assay_core::plugin::check_name;
use assay_dispatch::now;
use assay_store::audit::Actor;
use assay_store::keys::NewKey;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::tenant;
use crate::app::{App, AppState};
use crate::auth::NewSecret;
use crate::extract::body;
use crate::extract::guard::{Admin, Scoped};
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;

/// Create a key. The answer has the whole key, which is shown only once.
#[utoipa::path(
    post, path = "/v1/keys", tag = "keys", request_body = CreateKey,
    responses((status = 201, body = Key))
)]
pub(crate) async fn create(
    State(app): AppState,
    caller: Scoped<Admin>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<(StatusCode, Json<Key>), ApiError> {
    let call: CreateKey = body::parse(&body)?;
    check(&call)?;
    if call.scopes.contains(&Scope::Platform) {
        // Who administers a tenant does not make himself administrator of all of them.
        caller.need(Scope::Platform)?;
    }
    let (tenant_id, tenant) = tenant(&app, &caller, call.tenant.as_deref()).await?;
    let of = KeyOf { tenant: tenant_id, tenant_name: tenant, person: None };
    Ok((StatusCode::CREATED, Json(make(&app, of, call, &caller.actor()).await?)))
}

/// The tenant of a new key, and the person if it is a personal one.
pub(crate) struct KeyOf {
    pub tenant: TenantId,
    pub tenant_name: String,
    pub person: Option<(PersonId, String)>,
}

/// Makes a key from a call that was checked.
pub(crate) async fn make(
    app: &App,
    of: KeyOf,
    call: CreateKey,
    actor: &Actor,
) -> Result<Key, ApiError> {
    let at = now();
    let (person, email) = of.person.unzip();
    let secret = NewSecret::generate(&app.environment);
    let key = NewKey {
        tenant: of.tenant,
        name: &call.name,
        prefix: &secret.prefix,
        secret_hash: secret.hash,
        scopes: &call.scopes,
        plugins: call.plugins.as_deref(),
        created_at: at,
        expires_at: call.expires_at,
        person,
    };
    let id = app.store.create_key(key, actor).await?;
    Ok(Key {
        id,
        tenant: of.tenant_name,
        name: call.name,
        prefix: secret.prefix,
        scopes: call.scopes,
        plugins: call.plugins,
        created_at: at,
        expires_at: call.expires_at,
        revoked_at: None,
        last_used_at: None,
        previous_secret_until: None,
        person: email,
        secret: Some(secret.key),
    })
}

pub(crate) fn check(call: &CreateKey) -> Result<(), ApiError> {
    if call.name.len() > limits::KEY_NAME_BYTES_MAX || call.name.chars().any(char::is_control) {
        let max = limits::KEY_NAME_BYTES_MAX;
        return Err(ApiError::bad_request(format!("name must be at most {max} plain characters"))
            .field("name"));
    }
    if call.scopes.is_empty() {
        return Err(ApiError::bad_request("a key needs at least one scope").field("scopes"));
    }
    let Some(plugins) = &call.plugins else { return Ok(()) };
    if plugins.is_empty() || plugins.len() > limits::KEY_PLUGINS_MAX {
        let max = limits::KEY_PLUGINS_MAX;
        let detail =
            format!("plugins must name 1 to {max} plugins; leave it out to allow all of them");
        return Err(ApiError::bad_request(detail).field("plugins"));
    }
    for plugin in plugins {
        let (name, channel) = plugin.split_once('@').unwrap_or((plugin, "prod"));
        check_name("plugin", name, limits::PLUGIN_NAME_BYTES_MAX)
            .and_then(|()| check_name("channel", channel, limits::PLUGIN_NAME_BYTES_MAX))
            .map_err(|error| {
                ApiError::bad_request(error).hint("write name or name@channel").field("plugins")
            })?;
    }
    Ok(())
}
