//! Authentication of the caller: by a key in the header `Authorization`, or by a session's cookie, never by
//! both. This layer is in front of every route except the open ones.

pub mod bootstrap;
mod cookie;
mod keys;
pub(crate) mod oidc;
pub(crate) mod sign_in;
mod token;
pub(super) mod trainer;

use std::sync::Arc;
use std::time::Duration;

use assay_api::key::Scope;
use assay_core::id::TenantId;
use assay_core::limits;
use assay_registry::Reference;
use assay_store::audit::Actor;
use assay_store::sessions::SessionRow;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use uuid::Uuid;

use crate::app::App;
use crate::connections::Connection;
use crate::problem::ApiError;

pub(super) use cookie::{
    Origins, Token, csrf_token, find_cookie, removed_cookie, session_cookie, set_cookie,
};
pub use keys::{KeyCache, NewSecret};
pub(crate) use token::random_token;

const STREAM_CHECK: Duration = Duration::from_secs(limits::STREAM_CHECK_SECONDS);

/// The caller. Only the authentication layer makes one.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub tenant: TenantId,
    pub tenant_name: Arc<str>,
    scopes: Arc<[Scope]>,
    /// Plugins that the caller may use; all of them when absent.
    plugins: Option<Arc<[String]>>,
    actor: Arc<Actor>,
    session: Option<Arc<CallerSession>>,
}

/// The session of a person who calls.
#[derive(Debug)]
pub(super) struct CallerSession {
    pub token: Token,
    pub row: SessionRow,
}

impl Caller {
    pub(super) fn need(&self, scope: Scope) -> Result<(), ApiError> {
        self.need_one(&[scope])
    }

    /// Refuses a caller who has none of the scopes; the error names the first.
    pub(super) fn need_one(&self, scopes: &[Scope]) -> Result<(), ApiError> {
        let Some(first) = scopes.first().filter(|_| !scopes.iter().any(|&scope| self.has(scope)))
        else {
            return Ok(());
        };
        let (who, hint) = match &self.session {
            None => ("this key", "ask an administrator for a key that has it"),
            Some(_) => ("your role", "ask an administrator of the tenant for a role that has it"),
        };
        let detail = format!("{who} does not have the scope `{}`", first.as_str());
        Err(ApiError::new(StatusCode::FORBIDDEN, "scope_missing", detail).hint(hint))
    }

    /// The actor for the audit.
    pub(super) fn actor(&self) -> Actor {
        (*self.actor).clone()
    }

    /// The id of the key or the person.
    pub(super) fn id(&self) -> Uuid {
        match &*self.actor {
            Actor::Key { id, .. } => id.0,
            Actor::Person { id, .. } => id.0,
            Actor::Platform => Uuid::nil(),
        }
    }

    pub(super) fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    pub(super) fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Absent when a key calls.
    pub(super) fn session(&self) -> Option<&Arc<CallerSession>> {
        self.session.as_ref()
    }

    /// Whether the key's list of plugins has this one, as it is named.
    pub(super) fn may_use(&self, plugin: &Reference) -> Result<(), ApiError> {
        let channel = format!("{}@{}", plugin.name, plugin.channel_or_version);
        self.check_listed(&channel, |listed| *listed == plugin.name || *listed == channel)
    }

    /// Whether the key's list has the plugin of a batch that is there, through whatever channel.
    pub(super) fn may_submit_to(&self, plugin: &str) -> Result<(), ApiError> {
        self.check_listed(plugin, |listed| listed.split('@').next() == Some(plugin))
    }

    fn check_listed(&self, plugin: &str, listed: impl Fn(&String) -> bool) -> Result<(), ApiError> {
        let Some(plugins) = self.plugins.as_deref().filter(|plugins| !plugins.iter().any(listed))
        else {
            return Ok(());
        };
        let detail = format!("this key may only use {}, not {plugin}", plugins.join(", "));
        Err(ApiError::new(StatusCode::FORBIDDEN, "plugin_not_allowed", detail)
            .hint("ask an administrator for a key that may use it"))
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| unauthenticated("no key was given"))
    }
}

fn unauthenticated(detail: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail)
        .hint("send the header `Authorization: Bearer assay_...`, or sign in")
}

fn mixed(detail: &str) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "credentials_mixed", detail)
        .hint("send only one of them")
}

/// The layer in front of every route except the open ones.
pub(super) async fn authenticate(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    match caller(&app, &request).await {
        Ok(caller) => {
            if let Some(connection) = request.extensions().get::<Connection>() {
                connection.prove(caller.tenant);
            }
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => {
            let mut response = error.into_response();
            if response.status() == StatusCode::UNAUTHORIZED {
                let challenge = header::HeaderValue::from_static("Bearer");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            response
        }
    }
}

/// The future holds nothing of the body, which may not be shared.
fn caller<'a>(
    app: &'a App,
    request: &'a Request,
) -> impl Future<Output = Result<Caller, ApiError>> + Send + use<'a> {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    async move {
        if let Some(key) = trainer::key(uri, headers)? {
            return app.keys.caller_of(&key).await;
        }
        let cookie = find_cookie(headers, cookie::SESSION);
        match (headers.get(header::AUTHORIZATION), cookie) {
            (Some(_), Some(_)) => Err(mixed("the call has both a key and a session cookie")),
            (Some(key), None) => app.keys.caller(key).await,
            (None, Some(cookie)) => by_cookie(app, method, uri, headers, cookie).await,
            (None, None) => Err(unauthenticated("no key was given")),
        }
    }
}

async fn by_cookie(
    app: &App,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    cookie: &str,
) -> Result<Caller, ApiError> {
    let token = Token::parse(cookie).ok_or_else(session_ended)?;
    if !method.is_safe() {
        app.sign_in.origins.check(uri, headers)?;
        cookie::check_csrf(&token, headers)?;
    }
    let at = assay_dispatch::now();
    let row = app.store.session(token.hash(), at).await?.ok_or_else(session_ended)?;
    cookie::touch(app, &token, row.used_at, at).await?;
    Ok(by_session(token, row))
}

fn session_ended() -> ApiError {
    unauthenticated("the session has ended")
}

fn by_session(token: Token, row: SessionRow) -> Caller {
    Caller {
        tenant: row.tenant,
        tenant_name: row.tenant_name.as_str().into(),
        scopes: row.role.scopes(&row.tenant_name).into(),
        plugins: None,
        actor: Arc::new(Actor::Person { id: row.person, email: row.email.clone() }),
        session: Some(Arc::new(CallerSession { token, row })),
    }
}

/// Resolves when the caller's key or session no longer gives the same permissions. For streams,
/// which may outlive them. The check does not extend a session.
pub(super) async fn until_ended(app: Arc<App>, headers: HeaderMap, caller: Caller) {
    loop {
        tokio::time::sleep(STREAM_CHECK).await;
        match again(&app, &headers).await {
            Ok(now) if now.tenant == caller.tenant && now.scopes == caller.scopes => {}
            // A database that is away says nothing of anybody.
            Err(error) if error.status.is_server_error() => {}
            Ok(_) | Err(_) => return,
        }
    }
}

async fn again(app: &App, headers: &HeaderMap) -> Result<Caller, ApiError> {
    if let Some(key) = headers.get(header::AUTHORIZATION) {
        return app.keys.caller(key).await;
    }
    let cookie = find_cookie(headers, cookie::SESSION);
    let token = cookie.and_then(Token::parse).ok_or_else(session_ended)?;
    let row = app.store.session(token.hash(), assay_dispatch::now()).await?;
    Ok(by_session(token, row.ok_or_else(session_ended)?))
}

/// Describes keys and cookies in the OpenAPI document.
pub(super) struct Credentials;

impl utoipa::Modify for Credentials {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let key = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let cookie = ApiKey::Cookie(ApiKeyValue::new(cookie::SESSION));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("key", SecurityScheme::Http(key));
        components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    }
}
