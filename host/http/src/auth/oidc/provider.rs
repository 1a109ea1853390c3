//! The dialogue with the OpenID provider: discovery, the address to which the browser is sent, and the exchange
//! of the code.

use std::time::Duration;

use assay_core::cause::deepest;
use assay_core::id::Digest;
use assay_core::limits;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::JwkSet;
use reqwest::{RequestBuilder, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::config::{OidcConfig, check_address};
use super::id_token::{self, Answer, Doubt, TokenRules};
use super::pending::Flow;
use super::refused;
use crate::problem::ApiError;

pub(crate) struct Provider {
    http: reqwest::Client,
    issuer: String,
    client_id: String,
    client_secret: Option<String>,
    callback: Url,
}

/// The provider's addresses.
pub(crate) struct ProviderEndpoints {
    authorization: Url,
    token: Url,
    keys: Url,
    /// Whether the client's secret goes into a header instead of the form.
    basic: bool,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
}

impl Provider {
    pub(crate) fn new(config: &OidcConfig, callback: Url) -> anyhow::Result<Self> {
        let patience = Duration::from_secs(limits::OIDC_SECONDS_MAX);
        let http = reqwest::Client::builder()
            .user_agent(concat!("assay/", env!("CARGO_PKG_VERSION")))
            .timeout(patience)
            // Nobody but the provider may see the secret and the code.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self {
            http,
            issuer: config.issuer.clone(),
            client_id: config.client_id.clone(),
            client_secret: config.client_secret.clone(),
            callback,
        })
    }

    /// Asked anew for each sign-in: those are rare, and what is old is wrong.
    pub(crate) async fn discover(&self) -> Result<ProviderEndpoints, ApiError> {
        let issuer = self.issuer.trim_end_matches('/');
        let url = format!("{issuer}/.well-known/openid-configuration");
        let found: Discovery = ask(self.http.get(url)).await?;
        if found.issuer != self.issuer {
            return Err(failed(&format!("it calls itself {}", found.issuer)));
        }
        let address =
            |address: &str| check_address(address).map_err(|error| failed(&format!("{error:#}")));
        let methods = found.token_endpoint_auth_methods_supported;
        Ok(ProviderEndpoints {
            authorization: address(&found.authorization_endpoint)?,
            token: address(&found.token_endpoint)?,
            keys: address(&found.jwks_uri)?,
            basic: methods.is_none_or(|all| all.iter().any(|it| it == "client_secret_basic")),
        })
    }

    /// The provider's address to which the browser is sent.
    pub(crate) fn authorization(&self, flow: &Flow, state: &str) -> Url {
        let challenge = Digest::of(flow.verifier.as_str().as_bytes());
        let mut url = flow.known.authorization.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", self.callback.as_str())
            .append_pair("scope", "openid email profile")
            .append_pair("state", state)
            .append_pair("nonce", flow.nonce.as_str())
            .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(challenge.0))
            .append_pair("code_challenge_method", "S256");
        url
    }

    /// Exchanges the code for an ID token and returns the person whom the token names.
    pub(crate) async fn redeem(&self, flow: &Flow, code: &str) -> Result<Answer, ApiError> {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", self.callback.as_str()),
            ("code_verifier", flow.verifier.as_str()),
        ];
        let mut request = self.http.post(flow.known.token.clone());
        match &self.client_secret {
            // RFC 6749, 2.3.1: both are form-encoded first.
            Some(secret) if flow.known.basic => {
                request = request.basic_auth(encoded(&self.client_id), Some(encoded(secret)));
            }
            Some(secret) => form.extend([
                ("client_id", self.client_id.as_str()),
                ("client_secret", secret.as_str()),
            ]),
            None => form.push(("client_id", &self.client_id)),
        }
        let tokens: Tokens = ask(request.form(&form)).await?;
        let keys: JwkSet = ask(self.http.get(flow.known.keys.clone())).await?;
        let rules = TokenRules {
            issuer: &self.issuer,
            client: &self.client_id,
            nonce: flow.nonce.as_str(),
        };
        id_token::check(&tokens.id_token, &keys, &rules).map_err(|doubt| match doubt {
            Doubt::Untrusted(why) => untrusted(&why),
            Doubt::Refused(why) => refused(&why),
        })
    }
}

fn encoded(text: &str) -> String {
    // A pair without a name is encoded as such after `=`.
    let mut url = Url::parse("x:").expect("a URL");
    url.query_pairs_mut().append_pair("", text);
    url.query().unwrap_or_default().trim_start_matches('=').to_owned()
}

/// A whole answer as JSON, bounded.
async fn ask<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ApiError> {
    let answer = async {
        let mut response = request.send().await?;
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await? {
            body.extend_from_slice(&bytes);
            if body.len() > limits::OIDC_ANSWER_BYTES_MAX {
                break;
            }
        }
        Ok::<_, reqwest::Error>((response.status(), body))
    };
    let (status, body) = answer.await.map_err(|error| failed(&deepest(&error).to_string()))?;
    if body.len() > limits::OIDC_ANSWER_BYTES_MAX {
        return Err(failed("its answer is too long"));
    }
    if status.is_client_error() {
        return Err(refused(&format!("the provider refuses the sign-in with {status}")));
    }
    if !status.is_success() {
        return Err(failed(&format!("it answers {status}")));
    }
    serde_json::from_slice(&body).map_err(|_| failed("its answer is not JSON of the expected form"))
}

/// The provider does not do its part.
fn failed(detail: &str) -> ApiError {
    let detail = format!("the OpenID provider failed: {detail}");
    ApiError::new(StatusCode::BAD_GATEWAY, "oidc_provider_failed", detail)
        .hint("try again; if the error remains, ask the server's operator")
}

/// An ID token that is not for us, not for now, or not the provider's.
fn untrusted(detail: &str) -> ApiError {
    let detail = format!("the provider's ID token cannot be trusted: {detail}");
    ApiError::new(StatusCode::FORBIDDEN, "oidc_token_invalid", detail).hint("sign in again")
}
