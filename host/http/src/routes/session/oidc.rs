//! `/v1/session/oidc`: sign in by the OpenID provider, in a browser.

pub(crate) mod callback;
pub(crate) mod start;

use axum::http::{HeaderValue, StatusCode};

use crate::app::App;
use crate::auth::oidc::{Oidc, refused};
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
