//! A small OpenID provider, real where it counts: it signs with a key made for the test, checks PKCE and
//! the client's secret, and accepts each code once. Tests can falsify the tokens that it signs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub const CLIENT: &str = "assay";
pub const SECRET: &str = "a secret/with signs+";

/// Changes what is signed.
pub type Bend = fn(&mut Value);

struct Inner {
    url: String,
    key: EncodingKey,
    jwk: Jwk,
    state: Mutex<Changing>,
}

#[derive(Default)]
struct Changing {
    /// The query for which each code was issued, for the codes that were not redeemed yet.
    codes: HashMap<String, HashMap<String, String>>,
    given: usize,
    bend: Option<Bend>,
    /// Signs with a key that is not listed.
    other_key: bool,
    /// Forgets what the sign-in began with, as if somebody else's code had come.
    other_challenge: bool,
}

#[derive(Clone)]
pub struct Provider(Arc<Inner>);

fn new_key() -> EncodingKey {
    let random = SystemRandom::new();
    let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
    EncodingKey::from_ec_der(pair.expect("a key").as_ref())
}

impl Provider {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let key = new_key();
        let mut jwk = Jwk::from_encoding_key(&key, Algorithm::ES256).expect("a public half");
        jwk.common.key_id = Some("the-key".into());
        let provider = Self(Arc::new(Inner { url, key, jwk, state: Mutex::default() }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/keys", get(keys))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// From now on.
    pub fn bend(&self, bend: Bend) {
        *self.state() = Changing { bend: Some(bend), ..Changing::default() };
    }

    pub fn use_another_key(&self) {
        *self.state() = Changing { other_key: true, ..Changing::default() };
    }

    pub fn mix_challenges_up(&self) {
        *self.state() = Changing { other_challenge: true, ..Changing::default() };
    }

    pub fn be_good(&self) {
        *self.state() = Changing::default();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Changing> {
        self.0.state.lock().expect("nobody panics")
    }
}

async fn discovery(State(provider): State<Provider>) -> Json<Value> {
    let url = provider.url();
    Json(json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "jwks_uri": format!("{url}/keys"),
    }))
}

async fn keys(State(provider): State<Provider>) -> Json<Value> {
    Json(json!({ "keys": [provider.0.jwk] }))
}

/// Signs in everybody who comes.
async fn authorize(
    State(provider): State<Provider>,
    Query(asked): Query<HashMap<String, String>>,
) -> Response {
    let asks = [
        ("response_type", "code"),
        ("client_id", CLIENT),
        ("code_challenge_method", "S256"),
        ("scope", "openid email profile"),
    ];
    if asks.iter().any(|(name, value)| asked.get(*name).map(String::as_str) != Some(value)) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let mut state = provider.state();
    state.given += 1;
    let code = format!("code-{}", state.given);
    let to = format!("{}?state={}&code={code}", asked["redirect_uri"], asked["state"]);
    state.codes.insert(code, asked);
    Redirect::to(&to).into_response()
}

async fn token(
    State(provider): State<Provider>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> Response {
    let secret = "a+secret%2Fwith+signs%2B";
    let basic = format!("Basic {}", STANDARD.encode(format!("{CLIENT}:{secret}")));
    if headers.get(header::AUTHORIZATION).is_none_or(|given| *given != *basic) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let mut state = provider.state();
    let Some(asked) = state.codes.remove(&form["code"]) else {
        return (StatusCode::BAD_REQUEST, "invalid_grant").into_response();
    };
    let mut challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(form["code_verifier"].as_bytes()));
    if state.other_challenge {
        challenge.insert(0, 'x');
    }
    if challenge != asked["code_challenge"] || form["redirect_uri"] != asked["redirect_uri"] {
        return (StatusCode::BAD_REQUEST, "invalid_grant").into_response();
    }
    let mut claims = json!({
        "iss": provider.url(),
        "aud": CLIENT,
        "sub": "subject-1",
        "exp": jsonwebtoken::get_current_timestamp() + 300,
        "nonce": asked["nonce"],
        "email": "Ada@Example.com",
        "email_verified": true,
        "name": "Ada",
    });
    if let Some(bend) = state.bend {
        bend(&mut claims);
    }
    let mut head = Header::new(Algorithm::ES256);
    head.kid = Some("the-key".into());
    let other = state.other_key.then(new_key);
    let token = jsonwebtoken::encode(&head, &claims, other.as_ref().unwrap_or(&provider.0.key));
    let token = token.expect("claims are plain data");
    Json(json!({ "id_token": token, "access_token": "x", "token_type": "Bearer" })).into_response()
}
