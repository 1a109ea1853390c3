//! `POST /v1/session/keys`: another personal key.

use assay_api::key::{CreateKey, CreatePersonalKey, Key, Scope};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::SessionCaller;
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;
use crate::routes::keys::create::{KeyOf, check, make};

/// Create a personal key. It gives what both its scopes and your role in the tenant allow, and stops
/// working when you are no longer a member. The answer has the whole key, which is shown only once.
#[utoipa::path(
    post, path = "/v1/session/keys", tag = "session", request_body = CreatePersonalKey,
    responses((status = 201, body = Key))
)]
pub(crate) async fn create(
    State(app): AppState,
    SessionCaller { caller, session }: SessionCaller,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<(StatusCode, Json<Key>), ApiError> {
    let CreatePersonalKey { name, scopes, expires_at, plugins } = body::parse(&body)?;
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

/// Whether a personal key may have the scope: programs of one person administer nothing.
fn is_personal(scope: Scope) -> bool {
    !matches!(scope, Scope::Admin | Scope::Platform)
}
