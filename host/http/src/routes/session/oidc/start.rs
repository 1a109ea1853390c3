//! `GET /v1/session/oidc`: the browser is sent to the provider.

use assay_core::limits;
use axum::Extension;
use axum::extract::State;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse as _, Response};

use super::{COOKIE, configured, location};
use crate::app::AppState;
use crate::auth::oidc::{Flow, PATH};
use crate::auth::set_cookie;
use crate::auth::sign_in::Peer;
use crate::problem::ApiError;

/// Begin to sign in by the OpenID provider. The answer redirects the browser to the provider.
#[utoipa::path(
    get, path = "/v1/session/oidc", tag = "session", security(()),
    responses((status = 302, description = "Redirect to the provider; sets the cookie `assay_oidc`"))
)]
pub(crate) async fn start(
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
