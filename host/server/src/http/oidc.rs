//! Signing in by an OpenID provider: the authorization code flow with PKCE. What is between the
//! start and the callback is kept here, bounded, and bound to the browser by a cookie.

mod config;
mod pending;
mod provider;

use assay_model::api::Problem;
use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use reqwest::Url;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;

use super::auth::{Token, find_cookie, set_cookie};
use super::dashboard::{asks_for_page, has_dashboard};
use super::problem::ApiError;
use super::sign_in::{self, Peer};
use super::{App, AppState};
use crate::dispatch::now;
use crate::store::StoreError;
use crate::store::identities::{Identity, Welcome};
use assay_model::limits;

pub use config::OidcConfig;
use pending::{Flow, Pending};
use provider::{Answer, Provider};

/// Binds a sign-in to the browser that began it.
const COOKIE: &str = "assay_oidc";
const PATH: &str = "/v1/session/oidc";
/// Where the browser goes in the end, and where it goes when it may not come in.
const HOME: &str = "/";
const SIGN_IN: &str = "/sign-in";

pub(super) struct Oidc {
    config: OidcConfig,
    provider: Provider,
    pending: Pending,
}

impl Oidc {
    /// `url` is what browsers call the server.
    pub(super) fn new(config: OidcConfig, url: &Url) -> anyhow::Result<Self> {
        let callback = url.join(&format!("{PATH}/callback"))?;
        Ok(Self {
            provider: Provider::new(&config, callback)?,
            config,
            pending: Pending::default(),
        })
    }
}

fn configured(app: &App) -> Result<&Oidc, ApiError> {
    app.sign_in.oidc.as_ref().ok_or_else(|| {
        let detail = "this server has no OpenID provider";
        ApiError::new(StatusCode::NOT_FOUND, "oidc_not_configured", detail)
            .hint("sign in with a password; `assay serve --oidc FILE` configures a provider")
    })
}

/// Begin to sign in by the OpenID provider: for browsers, which are sent there.
#[utoipa::path(
    get, path = "/v1/session/oidc", tag = "session", security(()),
    responses(
        (status = 302, description = "To the provider; sets the cookie `assay_oidc`"),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn start(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let oidc = configured(&app)?;
    app.sign_in.attempt(peer, &headers, None)?;
    let known = oidc.provider.discover().await?;
    let (state, flow, browser) = Flow::new(known);
    let to = oidc.provider.authorization(&flow, state.as_str());
    oidc.pending.insert(state.as_str(), flow);
    let secure = app.sign_in.origins.secure();
    let seconds = limits::OIDC_PENDING_SECONDS_MAX;
    let cookie = set_cookie(COOKIE, browser.as_str(), PATH, seconds, secure);
    let headers = AppendHeaders([(LOCATION, location(to.as_str())?), (SET_COOKIE, cookie)]);
    Ok((StatusCode::FOUND, headers).into_response())
}

/// What the provider sends the browser back with.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Callback {
    #[serde(default)]
    state: String,
    code: Option<String>,
    error: Option<String>,
    /// RFC 9207.
    iss: Option<String>,
}

/// End a sign-in by the OpenID provider: for browsers, which come from there and go to `/`.
#[utoipa::path(
    get, path = "/v1/session/oidc/callback", tag = "session", params(Callback), security(()),
    responses(
        (status = 303, description = "Signed in, to `/`; sets the cookie `assay_session`. A browser that is \
            refused goes to `/sign-in?problem=CODE`"),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn callback(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    query: Result<Query<Callback>, QueryRejection>,
) -> Result<Response, ApiError> {
    let oidc = configured(&app)?;
    app.sign_in.attempt(peer, &headers, None)?;
    let Query(callback) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let result = identify(&app, oidc, &headers, callback).await;
    let result = result.inspect_err(|error| {
        metrics::counter!("assay_sign_ins_total", "result" => "failed").increment(1);
        tracing::warn!("a sign-in by the OpenID provider failed: {}", error.detail);
    });
    let person = match result {
        Ok(person) => person,
        // Whoever waits for a page gets one, which has words for each code.
        Err(error) if has_dashboard() && asks_for_page(&headers) => {
            let page = location(&format!("{SIGN_IN}?problem={}", error.code))?;
            return Ok((StatusCode::SEE_OTHER, AppendHeaders([(LOCATION, page)])).into_response());
        }
        Err(error) => return Err(error),
    };
    let (_, signed_in) = sign_in::begin(&app, person).await?;
    let gone = set_cookie(COOKIE, "", PATH, 0, app.sign_in.origins.secure());
    let headers = AppendHeaders([(LOCATION, location(HOME)?), (SET_COOKIE, gone)]);
    Ok((StatusCode::SEE_OTHER, headers, signed_in).into_response())
}

async fn identify(
    app: &App,
    oidc: &Oidc,
    headers: &HeaderMap,
    callback: Callback,
) -> Result<assay_model::id::PersonId, ApiError> {
    let flow = oidc.pending.take(&callback.state).filter(|flow| {
        let browser = find_cookie(headers, COOKIE).and_then(Token::parse);
        browser.is_some_and(|browser| browser.hash().0.ct_eq(&flow.browser.0).into())
    });
    let flow = flow.ok_or_else(|| {
        let detail = "this sign-in was not begun in this browser, or has been ended";
        ApiError::new(StatusCode::BAD_REQUEST, "oidc_state_unknown", detail).hint("sign in again")
    })?;
    if callback.iss.as_deref().is_some_and(|issuer| issuer != oidc.config.issuer) {
        return Err(refused("the answer comes from another provider"));
    }
    if let Some(error) = &callback.error {
        let shown: String = error.chars().filter(char::is_ascii_graphic).take(64).collect();
        return Err(refused(&format!("the provider says `{shown}`")));
    }
    let code = callback.code.ok_or_else(|| refused("the provider gave no code"))?;
    let Answer { subject, email, name } = oidc.provider.redeem(&flow, &code).await?;
    let domain = email.rsplit('@').next().unwrap_or_default();
    if !oidc.config.email_domains.iter().any(|allowed| allowed == domain) {
        return Err(refused(&format!("addresses of {domain} do not sign in here")));
    }
    let welcome = match &oidc.config.welcome {
        None => None,
        Some((tenant, role)) => {
            let tenant = app.store.tenant_by_name(tenant).await?.id;
            Some(Welcome { tenant, role: *role })
        }
    };
    let identity =
        Identity { issuer: &oidc.config.issuer, subject: &subject, email: &email, name: &name };
    match app.store.person_by_identity(&identity, welcome, now()).await {
        Ok(person) => Ok(person),
        Err(StoreError::NotFound(_)) => {
            Err(refused("nobody with this address was invited, or they may not sign in"))
        }
        Err(error) => Err(error.into()),
    }
}

/// A sign-in that the provider or we do not allow.
fn refused(detail: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "oidc_refused", detail)
        .hint("ask an administrator, or sign in in another way")
}

fn location(to: &str) -> Result<axum::http::HeaderValue, ApiError> {
    axum::http::HeaderValue::try_from(to).map_err(|_| refused("the provider's address is none"))
}
