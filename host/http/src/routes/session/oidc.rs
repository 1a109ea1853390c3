//! `/v1/session/oidc`: sign in by the OpenID provider, in a browser.

pub(crate) mod callback;
pub(crate) mod start;

use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{AppendHeaders, IntoResponse as _, Response};

use crate::app::App;
use crate::auth::oidc::{AskingPage, Oidc, refused};
use crate::dashboard::{asks_for_page, has_dashboard};
use crate::problem::ApiError;

/// Binds a sign-in to the browser that began it.
const COOKIE: &str = "assay_oidc";

fn configured(app: &App) -> Result<&Oidc, ApiError> {
    app.sign_in.oidc.as_ref().ok_or_else(|| {
        let detail = "this server is not configured with an OpenID provider";
        ApiError::new(StatusCode::NOT_FOUND, "oidc_not_configured", detail)
            .hint("sign in with a password; `assay serve --oidc FILE` configures a provider")
    })
}

fn location(to: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::try_from(to).map_err(|_| refused("the provider's address is none"))
}

/// Leads a browser that asked for a page to the sign-in page, which has a text for each code. A program gets the error.
fn shown(error: ApiError, headers: &HeaderMap, asking: &AskingPage) -> Result<Response, ApiError> {
    if !has_dashboard() || !asks_for_page(headers) {
        return Err(error);
    }
    let page = location(&asking.sign_in(error.code))?;
    Ok((StatusCode::SEE_OTHER, AppendHeaders([(LOCATION, page)])).into_response())
}
