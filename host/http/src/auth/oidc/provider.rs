//! The dialogue with the OpenID provider: discovery, the address to which the browser is sent, the exchange
//! of the code, and the check of the ID token (OpenID Connect Core 3.1.3.7). A claim counts only if the
//! provider signed it, for this client and for this sign-in.

use std::time::Duration;

use assay_api::people::normal_email;
use assay_core::limits;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use reqwest::{RequestBuilder, Url};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use subtle::ConstantTimeEq as _;

use super::config::{OidcConfig, check_address};
use super::pending::Flow;
use super::refused;
use crate::problem::ApiError;

/// The accepted signature algorithms: asymmetric ones only.
const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];
/// The largest difference between the clocks, in seconds.
const LEEWAY_SECONDS: u64 = 30;

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

/// The person who signed in, by the provider's ID token.
pub(crate) struct Answer {
    pub subject: String,
    /// Verified by the provider; in lower case.
    pub email: String,
    pub name: String,
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

#[derive(Deserialize)]
struct Claims {
    sub: String,
    aud: Audience,
    azp: Option<String>,
    nonce: Option<String>,
    email: Option<String>,
    email_verified: Option<Truth>,
    name: Option<String>,
}

/// Ours is among them: that was checked with the signature.
#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    Many(Vec<IgnoredAny>),
    One(IgnoredAny),
}

/// Some providers send it as a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Truth {
    Plain(bool),
    Text(String),
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
        let challenge = assay_core::id::Digest::of(flow.verifier.as_str().as_bytes());
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
        self.check(&tokens.id_token, &keys, flow.nonce.as_str())
    }

    fn check(&self, token: &str, keys: &JwkSet, nonce: &str) -> Result<Answer, ApiError> {
        let doubtful = |error: jsonwebtoken::errors::Error| untrusted(&error.to_string());
        let header = jsonwebtoken::decode_header(token).map_err(doubtful)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(untrusted("it is signed in a way that is not taken"));
        }
        let key = find_key(keys, header.kid.as_deref())
            .ok_or_else(|| untrusted("it is signed with a key that the provider does not list"))?;
        let key = DecodingKey::from_jwk(key).map_err(doubtful)?;
        let mut wanted = Validation::new(header.alg);
        wanted.set_audience(&[&self.client_id]);
        wanted.set_issuer(&[&self.issuer]);
        wanted.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        wanted.leeway = LEEWAY_SECONDS;
        wanted.validate_nbf = true;
        let claims: Claims = jsonwebtoken::decode(token, &key, &wanted).map_err(doubtful)?.claims;
        self.check_claims(claims, nonce)
    }

    fn check_claims(&self, claims: Claims, nonce: &str) -> Result<Answer, ApiError> {
        let many = matches!(&claims.aud, Audience::Many(all) if all.len() > 1);
        let ours = claims.azp.as_deref().map(|party| party == self.client_id);
        if ours == Some(false) || (many && ours.is_none()) {
            return Err(untrusted("it was made for another client"));
        }
        let given = claims.nonce.unwrap_or_default();
        if !bool::from(given.as_bytes().ct_eq(nonce.as_bytes())) {
            return Err(untrusted("its nonce is not this sign-in's"));
        }
        let verified = match claims.email_verified {
            Some(Truth::Plain(verified)) => verified,
            Some(Truth::Text(text)) => text == "true",
            None => false,
        };
        let email = claims.email.ok_or_else(|| refused("the provider sent no e-mail address"))?;
        if !verified {
            return Err(refused("the provider has not verified the address"));
        }
        let email = normal_email(&email).map_err(|error| refused(&error))?;
        let name = claims.name.unwrap_or_default();
        let plain = name.chars().filter(|c| !c.is_control());
        let name = plain.take(limits::PERSON_NAME_BYTES_MAX / 4).collect();
        Ok(Answer { subject: claims.sub, email, name })
    }
}

/// The key that is named, or the only one there is.
fn find_key<'a>(keys: &'a JwkSet, id: Option<&str>) -> Option<&'a Jwk> {
    let signs = |key: &&Jwk| {
        key.common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature)
    };
    let mut keys = keys.keys.iter().filter(signs);
    match id {
        Some(id) => keys.find(|key| key.common.key_id.as_deref() == Some(id)),
        None => keys.next().filter(|_| keys.next().is_none()),
    }
}

fn encoded(text: &str) -> String {
    // A pair without a name is encoded as such behind `=`.
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
    let (status, body) = answer.await.map_err(|error| {
        let mut reason: &dyn std::error::Error = &error;
        while let Some(source) = reason.source() {
            reason = source;
        }
        failed(&reason.to_string())
    })?;
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
