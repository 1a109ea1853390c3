//! Callers and their credentials: a key in the header `Authorization`, or a session's cookie, never both. The layer
//! that asks for them is `middleware::authenticate`.

pub mod bootstrap;
pub(super) mod cookie;
mod keys;
pub(crate) mod oidc;
pub(crate) mod sign_in;
pub(super) mod trainer;

use std::sync::Arc;

use assay_api::key::Scope;
use assay_core::id::TenantId;
use assay_registry::Reference;
use assay_store::audit::Actor;
use assay_store::sessions::SessionRow;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use uuid::Uuid;

use crate::problem::ApiError;

pub(super) use cookie::{
    Origins, Token, csrf_token, find_cookie, removed_cookie, session_cookie, set_cookie,
};
pub use keys::{KeyCache, NewSecret};

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

    /// Whether the key's list has this plugin, through whatever channel: `NAME`, or `NAME@VERSION` as a batch has it.
    pub(super) fn may_use_plugin(&self, plugin: &str) -> Result<(), ApiError> {
        let name = plugin.split('@').next();
        self.check_listed(plugin, |listed| listed.split('@').next() == name)
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

pub(super) fn unauthenticated(detail: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail)
        .hint("send the header `Authorization: Bearer assay_...`, or sign in")
}

pub(super) fn mixed(detail: &str) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "credentials_mixed", detail)
        .hint("send only one of them")
}

pub(super) fn session_ended() -> ApiError {
    unauthenticated("the session has ended")
}

pub(super) fn by_session(token: Token, row: SessionRow) -> Caller {
    Caller {
        tenant: row.tenant,
        tenant_name: row.tenant_name.as_str().into(),
        scopes: row.role.scopes(&row.tenant_name).into(),
        plugins: None,
        actor: Arc::new(Actor::Person {
            id: row.person,
            email: row.email.clone(),
            tenant: Some(row.tenant),
        }),
        session: Some(Arc::new(CallerSession { token, row })),
    }
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
