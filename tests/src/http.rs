//! Calls as a trainer without a client library makes them: the exact HTTP, nothing repeated.

use assay_api::problem::Problem;
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Method, RequestBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Host;

/// A stream without an end: its first piece is the answer.
const ENDLESS: &str = "/v1/live";

/// A server's address and a key.
#[derive(Debug, Clone)]
pub struct Http {
    client: reqwest::Client,
    pub url: String,
    pub key: Option<String>,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    /// Method and path, for failures.
    pub call: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Http {
    #[must_use]
    pub fn new(host: &Host) -> Self {
        assay_client::install_tls_provider();
        let client = reqwest::Client::new();
        Self { client, url: host.url.clone(), key: Some(host.key.clone()) }
    }

    /// The same server with another key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.into()), ..self.clone() }
    }

    #[must_use]
    pub fn without_key(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// # Panics
    /// When no answer comes.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        Answer::of(&self.client, request).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// Waits for the end of what the path names, half a minute at most.
    pub async fn get_when_ended(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path).header("prefer", "wait=30")).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    pub async fn post_bytes(&self, path: &str, kind: &str, body: impl Into<Bytes>) -> Answer {
        let request = self.request(Method::POST, path).header(CONTENT_TYPE, kind);
        self.send(request.body(body.into())).await
    }
}

async fn first_piece(mut response: reqwest::Response) -> Bytes {
    let piece =
        response.chunk().await.unwrap_or_else(|error| panic!("a stream broke off: {error}"));
    piece.expect("a stream has an event")
}

impl Answer {
    pub(crate) async fn of(client: &reqwest::Client, request: RequestBuilder) -> Self {
        let request = request.build().expect("a well-formed call");
        let call = format!("{} {}", request.method(), request.url());
        let response = client.execute(request).await;
        let response = response.unwrap_or_else(|error| panic!("{call}: {error:?}"));
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        if status == 200 && call.ends_with(ENDLESS) {
            return Self { body: first_piece(response).await, call, status, headers };
        }
        let body = response.bytes().await.unwrap_or_else(|error| panic!("{call}: {error:?}"));
        Self { call, status, headers, body }
    }

    /// The body of an answer that must have this status.
    ///
    /// # Panics
    /// When it has another, or another body.
    #[must_use]
    pub fn json<T: DeserializeOwned>(&self, status: u16) -> T {
        assert_eq!(self.status, status, "{}: {}", self.call, self.text());
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.call, self.text()))
    }

    /// The problem of an answer that must be one, whole and consistent.
    ///
    /// # Panics
    /// When it is none, or another.
    #[must_use]
    pub fn problem(&self, status: u16, code: &str) -> Problem {
        let problem: Problem = self.json(status);
        let kind = self.headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes());
        assert_eq!(kind, Some(&b"application/problem+json"[..]), "{}", self.call);
        assert_eq!((problem.status, problem.code.as_str()), (status, code), "{problem:?}");
        assert!(!problem.detail.is_empty() && !problem.title.is_empty(), "{problem:?}");
        let id = self.headers.get("request-id").and_then(|id| id.to_str().ok());
        assert!(id.is_some(), "{} has no Request-Id", self.call);
        assert_eq!(problem.request_id.as_deref(), id, "{}", self.call);
        problem
    }

    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}
