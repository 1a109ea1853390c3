//! A browser as far as signing in goes: keeps cookies, follows no redirect by itself, sends the
//! session's token against forged calls when it is told to.

use std::collections::BTreeMap;

use assay_api::people::Session;
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::{Answer, Host};

/// The header that a page of the server itself sends.
pub const CSRF: &str = "x-assay-csrf";

/// One browser at one server.
#[derive(Debug, Clone)]
pub struct Browser {
    client: reqwest::Client,
    pub url: String,
    pub cookies: BTreeMap<String, String>,
    pub csrf: Option<String>,
}

impl Browser {
    /// # Panics
    /// Where no HTTP client can be made.
    #[must_use]
    pub fn new(host: &Host) -> Self {
        assay_client::install_tls_provider();
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let client = client.build().expect("an HTTP client");
        Self { client, url: host.url.clone(), cookies: BTreeMap::new(), csrf: None }
    }

    /// With the cookies, and the token where the call may change something.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.plain(method.clone(), path);
        match &self.csrf {
            Some(csrf) if !method.is_safe() => request.header(CSRF, csrf),
            _ => request,
        }
    }

    /// As a form on another site could: cookies and nothing else.
    pub fn plain(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        let pairs: Vec<_> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { request } else { request.header(COOKIE, pairs.join("; ")) }
    }

    /// # Panics
    /// When no answer comes.
    pub async fn send(&mut self, request: RequestBuilder) -> Answer {
        let answer = Answer::of(&self.client, request).await;
        for cookie in answer.headers.get_all(SET_COOKIE) {
            let cookie = cookie.to_str().expect("a cookie is ASCII");
            let (pair, attributes) = cookie.split_once(';').expect("a cookie has attributes");
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            if attributes.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.into(), value.into());
            }
        }
        answer
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// Takes a session over from the answer that began it.
    ///
    /// # Panics
    /// When it did not begin one.
    pub fn signed_in(&mut self, answer: &Answer) -> Session {
        let session: Session = answer.json(201);
        let mut names = self.cookies.keys();
        assert!(names.any(|name| name.ends_with("assay_session")), "{:?}", answer.headers);
        self.csrf.clone_from(&session.csrf);
        session
    }

    /// # Panics
    /// When the server refuses it.
    pub async fn sign_in(&mut self, email: &str, password: &str) -> Session {
        let call = json!({ "email": email, "password": password });
        let answer = self.post("/v1/session", &call).await;
        self.signed_in(&answer)
    }

    /// # Panics
    /// When the server refuses it.
    pub async fn accept(&mut self, invitation: &str, password: &str) -> Session {
        let call = json!({ "token": invitation, "password": password });
        let answer = self.post("/v1/invitations/accept", &call).await;
        self.signed_in(&answer)
    }
}
