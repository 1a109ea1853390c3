//! `GET /v1/session/oidc`: the browser is sent to the provider.

use assay_core::limits;
use axum::Extension;
use axum::extract::State;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use serde::Deserialize;

use super::{COOKIE, configured, location, shown};
use crate::app::{App, AppState};
use crate::auth::oidc::{AskingPage, Flow, PATH};
use crate::auth::set_cookie;
use crate::auth::sign_in::Peer;
use crate::extract::query::Query;
use crate::problem::ApiError;

/// The page that asks for the sign-in.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Start {
    /// Path and query of the page of this server to which the browser returns; `/` when absent or when it is no such page.
    back: Option<String>,
    /// Name of the tenant in which the session begins, if the person is a member of it; otherwise, and when absent, it
    /// begins in the one to which they have belonged for longest.
    tenant: Option<String>,
}

/// Begin to sign in by the OpenID provider. The answer redirects the browser to the provider.
#[utoipa::path(
    get, path = "/v1/session/oidc", tag = "session", params(Start), security(()),
    responses(
        (status = 302, description = "Redirect to the provider; sets the cookie `assay_oidc`"),
        (status = 303, description = "Refused: redirects a browser to `/sign-in?problem=CODE`"),
    )
)]
pub(crate) async fn start(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    asked: Result<Query<Start>, ApiError>,
) -> Result<Response, ApiError> {
    let Query(Start { back, tenant }) = match asked {
        Ok(asked) => asked,
        Err(error) => return shown(error, &headers, &AskingPage::default()),
    };
    let asking = AskingPage::new(back.as_deref(), tenant);
    let sent = send_to_provider(&app, peer, &headers, asking.clone()).await;
    sent.or_else(|error| shown(error, &headers, &asking))
}

async fn send_to_provider(
    app: &App,
    peer: Peer,
    headers: &HeaderMap,
    asking: AskingPage,
) -> Result<Response, ApiError> {
    let oidc = configured(app)?;
    app.sign_in.attempt(peer, headers, None)?;
    let known = oidc.provider.discover().await.inspect_err(|error| {
        tracing::warn!("a sign-in by the OpenID provider cannot begin: {}", error.detail);
    })?;
    let (state, flow, browser) = Flow::new(known, asking);
    let to = oidc.provider.authorization(&flow, state.as_str());
    oidc.pending.insert(state.as_str(), flow);
    let secure = app.sign_in.origins.secure();
    let seconds = limits::OIDC_PENDING_SECONDS_MAX;
    let cookie = set_cookie(COOKIE, browser.as_str(), PATH, seconds, secure);
    let headers = AppendHeaders([(LOCATION, location(to.as_str())?), (SET_COOKIE, cookie)]);
    Ok((StatusCode::FOUND, headers).into_response())
}
