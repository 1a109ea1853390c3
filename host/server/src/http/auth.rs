//! Keys: `assay_<environment>_<prefix>_<secret>`. The secret has 256 random bits, so its SHA-256
//! is kept instead of a slow hash, and compared in constant time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_model::api::Scope;
use assay_model::id::{Digest, TenantId};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq as _;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

use super::App;
use super::problem::ApiError;
use crate::dispatch::now;
use crate::store::keys::KeyRow;
use crate::store::{Store, StoreError};

/// How long a key that was looked up is believed; a revocation elsewhere takes this long.
const BELIEVED_FOR: Duration = Duration::from_secs(5);
const HELD_MAX: usize = 10_000;

/// Who calls. Only the authentication layer makes one.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub tenant: TenantId,
    pub tenant_name: Arc<str>,
    scopes: Arc<[Scope]>,
}

impl Caller {
    pub(super) fn need(&self, scope: Scope) -> Result<(), ApiError> {
        if self.has(scope) {
            return Ok(());
        }
        let detail = format!("this key has no scope `{}`", scope.as_str());
        Err(ApiError::new(StatusCode::FORBIDDEN, "scope_missing", detail)
            .hint("ask an administrator for a key that has it"))
    }

    pub(super) fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
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
        .hint("send the header `Authorization: Bearer assay_...`")
}

/// The layer in front of every route but the probes.
pub(super) async fn authenticate(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    match app.keys.caller(request.headers()).await {
        Ok(caller) => {
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

/// Keys that were looked up a moment ago.
pub struct KeyCache {
    store: Store,
    held: Mutex<HashMap<String, Held>>,
}

struct Held {
    since: Instant,
    secret_hash: Digest,
    expires_at: Option<assay_model::time::Micros>,
    caller: Caller,
}

impl KeyCache {
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store, held: Mutex::default() }
    }

    /// After a revocation.
    pub(super) fn forget(&self, prefix: &str) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(prefix);
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let given = headers
            .get(header::AUTHORIZATION)
            .ok_or_else(|| unauthenticated("no key was given"))?;
        let (scheme, key) = given.to_str().ok().and_then(|text| text.split_once(' ')).unzip();
        let key = key.filter(|_| scheme.is_some_and(|it| it.eq_ignore_ascii_case("bearer")));
        let parts = key.and_then(|key| Some((key, prefix_of(key)?)));
        let Some((key, prefix)) = parts else {
            return Err(unauthenticated("what was given is no key"));
        };
        let hash = crate::blob::digest(key.as_bytes());
        if let Some(caller) = self.believed(prefix, hash) {
            return Ok(caller);
        }
        let row = self.store.key_by_prefix(prefix).await.map_err(not_ours)?;
        let row = row.filter(|row| same(row.secret_hash, hash));
        let Some(row) = row else {
            return Err(unauthenticated("there is no such key"));
        };
        if row.revoked_at.is_some() {
            return Err(unauthenticated("the key was revoked"));
        }
        if row.expires_at.is_some_and(|at| at <= now()) {
            return Err(unauthenticated("the key has expired"));
        }
        Ok(self.hold(prefix, row))
    }

    fn believed(&self, prefix: &str, hash: Digest) -> Option<Caller> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let key = held.get(prefix)?;
        let fresh = key.since.elapsed() < BELIEVED_FOR;
        let alive = key.expires_at.is_none_or(|at| at > now());
        (fresh && alive && same(key.secret_hash, hash)).then(|| key.caller.clone())
    }

    fn hold(&self, prefix: &str, row: KeyRow) -> Caller {
        let caller = Caller {
            tenant: row.tenant,
            tenant_name: row.tenant_name.into(),
            scopes: row.scopes.into(),
        };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= HELD_MAX {
            held.clear();
        }
        let key = Held {
            since: Instant::now(),
            secret_hash: row.secret_hash,
            expires_at: row.expires_at,
            caller: caller.clone(),
        };
        held.insert(prefix.into(), key);
        caller
    }
}

fn not_ours(error: StoreError) -> ApiError {
    error.into()
}

fn same(one: Digest, other: Digest) -> bool {
    one.0.ct_eq(&other.0).into()
}

fn prefix_of(key: &str) -> Option<&str> {
    let mut parts = key.split('_');
    let (assay, _environment, prefix, secret) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    (assay == "assay" && !prefix.is_empty() && !secret.is_empty() && parts.next().is_none())
        .then_some(prefix)
}

/// A key that was just made: what to store and what to show once.
pub struct NewSecret {
    pub key: String,
    pub prefix: String,
    pub hash: Digest,
}

impl NewSecret {
    /// # Panics
    /// When the operating system has no randomness to give.
    #[must_use]
    pub fn generate(environment: &str) -> Self {
        let mut random = [0u8; 38];
        getrandom::fill(&mut random).expect("the operating system gives randomness");
        let (prefix, secret) = random.split_at(6);
        let prefix = hex::encode(prefix);
        let key = format!("assay_{environment}_{prefix}_{}", hex::encode(secret));
        Self { hash: crate::blob::digest(key.as_bytes()), key, prefix }
    }
}

/// Describes the keys in the OpenAPI document.
pub(super) struct BearerKey;

impl utoipa::Modify for BearerKey {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("key", SecurityScheme::Http(scheme));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_key_is_read_back() {
        let secret = NewSecret::generate("dev");
        assert_eq!(prefix_of(&secret.key), Some(secret.prefix.as_str()));
        assert_ne!(secret.key, NewSecret::generate("dev").key);
    }

    #[test]
    fn what_is_no_key_has_no_prefix() {
        for text in
            ["", "assay", "assay_dev_ab", "assay_dev_ab_", "other_dev_ab_cd", "assay_a_b_c_d"]
        {
            assert_eq!(prefix_of(text), None, "{text}");
        }
    }
}
