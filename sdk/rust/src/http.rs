//! Requests to other hosts: those that an administrator granted to the tenant, and no others.
//!
//! ```no_run
//! use assay_plugin::http::Request;
//!
//! let answer = Request::post("https://api.example.com/v1/score")
//!     .secret("example")
//!     .json(&serde_json::json!({"text": "42"}))
//!     .timeout_ms(10_000)
//!     .send()?;
//! let score: f64 = answer.json()?;
//! # Ok::<(), assay_plugin::Error>(())
//! ```
//!
//! A plugin that sends requests is [`nondeterministic`](crate::Description::nondeterministic), unless its
//! answers never change. Requests end a second before the stage does (a tenth of its time, where that is
//! less): a request without an answer is then an error, and must never be made a reward.
//!
//! Only a component has a host to call: in a native test [`Request::send`] and [`sleep_ms`] panic. A plugin
//! imports only the functions that it calls.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error as PluginError;

#[cfg(target_arch = "wasm32")]
mod guest;

/// The bytes of an answer that are read unless the request allows more.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// The header that names a secret to the host.
const SECRET: &str = "assay-secret";

/// One request; nothing of it is sent before [`send`](Self::send).
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    method: &'static str,
    url: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    timeout_ms: Option<u32>,
    answer_bytes_max: usize,
}

/// A whole answer, whatever its status. Redirects are answers like others.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

/// Why there is no answer. By `?` it becomes the plugin's error, so that the right side is blamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// It is no request: an address, a header or a method that nobody can send. The plugin's fault.
    Invalid(String),
    /// The tenant was not granted the host, its address or the secret. The settings' fault.
    Denied(String),
    /// No complete answer came in time. This is nobody's fault: the platform tries again.
    Unavailable(String),
    /// More bytes or requests than a call may send or read. The plugin's fault.
    TooLarge(String),
}

impl Request {
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    #[must_use]
    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    /// A request with a method in capitals, such as `PUT`.
    #[must_use]
    pub fn new(method: &'static str, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout_ms: None,
            answer_bytes_max: ANSWER_BYTES_MAX,
        }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.into()));
        self
    }

    /// The host puts this secret on the request, in the header that its operator chose. The plugin never
    /// sees it.
    #[must_use]
    pub fn secret(self, name: &str) -> Self {
        self.header(SECRET, name)
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// A body of JSON, with its content type.
    ///
    /// # Panics
    /// Where the value cannot be JSON, such as a map whose keys are no texts: that is an error of the plugin, which a
    /// service must not be asked about.
    #[must_use]
    pub fn json(self, value: &impl Serialize) -> Self {
        let body = serde_json::to_vec(value).expect("the body can be written as JSON");
        self.header("content-type", "application/json").body(body)
    }

    /// How long to wait for the answer to begin, and then for each next part of it.
    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u32) -> Self {
        self.timeout_ms = Some(timeout_ms);
        self
    }

    /// An answer with more bytes is an error; 1 MiB unless it is said.
    #[must_use]
    pub fn answer_bytes_max(mut self, bytes_max: usize) -> Self {
        self.answer_bytes_max = bytes_max;
        self
    }

    /// Sends it and reads the whole answer. Blocks.
    pub fn send(&self) -> Result<Answer, Error> {
        #[cfg(target_arch = "wasm32")]
        return guest::send(self);
        #[cfg(not(target_arch = "wasm32"))]
        panic!("a native test has no host to send {} {}", self.method, self.url);
    }
}

/// Waits, to try again later; less where the stage's time for requests ends before. Only in a plugin that
/// sends requests: for others no time passes.
pub fn sleep_ms(span_ms: u32) {
    #[cfg(target_arch = "wasm32")]
    guest::sleep_ms(span_ms);
    #[cfg(not(target_arch = "wasm32"))]
    panic!("a native test has no host to wait {span_ms} ms for");
}

impl Answer {
    /// The first header of this name that is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values =
            self.headers.iter().filter(|(header, _)| header.eq_ignore_ascii_case(name));
        values.find_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    /// The body as JSON; what does not fit is the other side's fault.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::Unavailable(format!("the answer is not as expected: {error}")))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problem)
            | Self::Denied(problem)
            | Self::Unavailable(problem)
            | Self::TooLarge(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for PluginError {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied(problem) => Self::BadSettings(problem),
            Error::Unavailable(problem) => Self::Unavailable(problem),
            Error::Invalid(problem) | Error::TooLarge(problem) => Self::Internal(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_built() {
        let request = Request::post("https://a.example/").secret("key").json(&[1, 2]).timeout_ms(5);
        assert_eq!(request.body, b"[1,2]");
        assert_eq!(request.headers[0], (SECRET.to_owned(), b"key".to_vec()));
    }

    #[test]
    fn each_side_is_blamed_for_its_own() {
        let text = || "x".to_owned();
        assert!(matches!(PluginError::from(Error::Denied(text())), PluginError::BadSettings(_)));
        assert!(matches!(
            PluginError::from(Error::Unavailable(text())),
            PluginError::Unavailable(_)
        ));
        assert!(matches!(PluginError::from(Error::Invalid(text())), PluginError::Internal(_)));
    }

    #[test]
    fn an_answer_is_read() {
        let headers = vec![("retry-after".into(), b"3".to_vec())];
        let answer = Answer { status: 200, headers, body: b"{}".to_vec() };
        assert_eq!(answer.header("Retry-After"), Some("3"));
        assert!(matches!(answer.json::<f64>(), Err(Error::Unavailable(_))));
    }
}
