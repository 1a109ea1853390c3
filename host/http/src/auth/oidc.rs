//! Signing in by an OpenID provider: the authorization code flow with PKCE. Flows between the start and
//! the callback are kept here, in a bounded number, each bound to its browser by a cookie.

mod asking_page;
mod config;
mod id_token;
mod pending;
mod provider;

use axum::http::StatusCode;
use reqwest::Url;

use crate::problem::ApiError;

pub(crate) use asking_page::AskingPage;
pub use config::OidcConfig;
pub(crate) use id_token::Answer;
pub(crate) use pending::{Flow, Pending};
pub(crate) use provider::Provider;

pub(crate) const PATH: &str = "/v1/session/oidc";

pub(crate) struct Oidc {
    pub(crate) config: OidcConfig,
    pub(crate) provider: Provider,
    pub(crate) pending: Pending,
}

impl Oidc {
    /// `url` is what browsers call the server.
    pub(crate) fn new(config: OidcConfig, url: &Url) -> anyhow::Result<Self> {
        let callback = url.join(&format!("{PATH}/callback"))?;
        Ok(Self {
            provider: Provider::new(&config, callback)?,
            config,
            pending: Pending::default(),
        })
    }
}

/// A sign-in that the provider or we do not allow.
pub(crate) fn refused(detail: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "oidc_refused", detail)
        .hint("ask an administrator, or sign in with a password")
}
