//! One HTTP call: address, key, time limit, repetition, and the meaning of its answer.
//!
//! A call is repeated on a broken connection, 429 and 5xx when it is [`Repeat::Safe`]; otherwise
//! only if it was surely not carried out (no connection, or 429).

use std::fmt;
use std::time::Duration;

use assay_api::problem::Problem;
use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, root_cause};

const CONNECT_SECONDS_MAX: u64 = 5;
const KEEPALIVE_SECONDS: u64 = 15;
/// The time limit of a call that neither waits for work nor carries much data.
pub(crate) const SHORT_CALL: Duration = Duration::from_secs(60);
const RETRY_AFTER_SECONDS_MAX: u64 = 60;
/// Maximum number of characters shown of an unexpected answer.
const EXCERPT_CHARS_MAX: usize = 200;

/// How often and how fast a call is repeated: `attempts` in all, with pauses that double from
/// `pause_min` to `pause_max`, each shortened by a random share of up to a half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    pub attempts: u32,
    pub pause_min: Duration,
    pub pause_max: Duration,
    /// The number of those attempts that may follow one without an answer in its time.
    pub timeouts: u32,
}

impl Retry {
    /// For a person at a terminal: gives up after about three seconds.
    pub const SHORT: Self = Self {
        attempts: 6,
        pause_min: Duration::from_millis(100),
        pause_max: Duration::from_secs(5),
        timeouts: 0,
    };
    /// For long work: outlasts the restart of a server, about two minutes, and one that hangs until another takes its
    /// place.
    pub const LONG: Self = Self {
        attempts: 20,
        pause_min: Duration::from_millis(100),
        pause_max: Duration::from_secs(10),
        timeouts: 2,
    };

    /// The pause after the `failures`-th failure in a row.
    pub(crate) fn pause(&self, failures: u32) -> Duration {
        let doubled = self.pause_min.saturating_mul(1 << failures.saturating_sub(1).min(20));
        let full = doubled.min(self.pause_max);
        // Without randomness all clients that lost a server would return at the same time.
        let random = getrandom::u32().unwrap_or(0);
        full - full.mul_f64(f64::from(random) / f64::from(u32::MAX) / 2.0)
    }
}

/// A page of a list.
#[derive(Deserialize)]
struct ListPage<T> {
    items: Vec<T>,
    next: Option<String>,
}

/// Whether a call may be repeated if it is unknown whether it was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Safe,
    Unsafe,
}

/// A connection to an Assay server; cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    retry: Retry,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never the key.
        f.debug_struct("Client").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

impl Client {
    /// `url` is the server's address, such as `http://127.0.0.1:7700`; `key` an API key.
    pub fn new(url: &str, key: &str) -> Result<Self, Error> {
        let not_configured = |reason: String| Error::NotConfigured { reason };
        let base = Url::parse(url.trim_end_matches('/'))
            .ok()
            .filter(|base| matches!(base.scheme(), "http" | "https") && base.has_host())
            .ok_or_else(|| {
                not_configured(format!(
                    "`{url}` is not the address of a server; it should look like \
                     http://127.0.0.1:7700"
                ))
            })?;
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", key.trim()))
            .map_err(|_| not_configured("the API key contains invalid characters".to_owned()))?;
        authorization.set_sensitive(true);
        crate::install_tls_provider();
        let http = reqwest::Client::builder()
            .user_agent(concat!("assay-client/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, authorization)]))
            .connect_timeout(Duration::from_secs(CONNECT_SECONDS_MAX))
            .tcp_keepalive(Duration::from_secs(KEEPALIVE_SECONDS))
            .tcp_nodelay(true)
            // The key must not reach any other server.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| {
                not_configured(format!("cannot create an HTTP client: {}", root_cause(&error)))
            })?;
        Ok(Self { http, base, retry: Retry::SHORT })
    }

    /// The same client with another retry policy.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    #[must_use]
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// The server's address.
    #[must_use]
    pub fn url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// The host of the server's address.
    #[must_use]
    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// A request for a path below the base; each segment is escaped.
    pub(crate) fn request(&self, method: Method, segments: &[&str]) -> RequestBuilder {
        self.at(method, &[&["v1"], segments].concat())
    }

    fn at(&self, method: Method, segments: &[&str]) -> RequestBuilder {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .expect("an http address has a path")
            .pop_if_empty()
            .extend(segments);
        self.http.request(method, url).timeout(SHORT_CALL)
    }

    /// Asks whether the server is ready, for which no key is needed. Returns its number of workers.
    pub async fn ready(&self) -> Result<u64, Error> {
        #[derive(serde::Deserialize)]
        struct Ready {
            workers: u64,
        }
        let ready: Ready = self.json(self.at(Method::GET, &["readyz"]), Repeat::Safe).await?;
        Ok(ready.workers)
    }

    /// Sends the request, repeats it where allowed, and returns the first successful answer.
    pub(crate) async fn send(
        &self,
        request: RequestBuilder,
        repeat: Repeat,
    ) -> Result<Response, Error> {
        self.begin(request, repeat, Duration::MAX).await
    }

    /// The same for an answer that goes on for long: it begins within `begin_max`.
    pub(crate) async fn begin(
        &self,
        request: RequestBuilder,
        repeat: Repeat,
        begin_max: Duration,
    ) -> Result<Response, Error> {
        let (mut failures, mut timeouts) = (0, 0);
        loop {
            let again = request.try_clone().expect("every body is held in memory");
            let sent = tokio::time::timeout(begin_max, again.send()).await;
            let timed_out = match &sent {
                Ok(answer) => answer.as_ref().is_err_and(|e| e.is_timeout() && !e.is_connect()),
                Err(_) => true,
            };
            timeouts += u32::from(timed_out);
            let (error, pause, may_repeat) = match sent {
                Ok(Ok(response)) if response.status().is_success() => return Ok(response),
                Ok(Ok(response)) => {
                    let status = response.status();
                    let pause = retry_after(&response);
                    let may_repeat = status == StatusCode::TOO_MANY_REQUESTS
                        || (repeat == Repeat::Safe && status.is_server_error());
                    (self.refusal(response).await, pause, may_repeat)
                }
                Ok(Err(error)) => {
                    let is_harmless = repeat == Repeat::Safe && !error.is_builder();
                    let may_repeat = error.is_connect() || is_harmless;
                    (self.unreachable(root_cause(&error)), None, may_repeat)
                }
                Err(_) => {
                    let reason = format!("no answer within {} s", begin_max.as_secs());
                    (self.unreachable(reason), None, repeat == Repeat::Safe)
                }
            };
            let may_repeat = may_repeat && timeouts <= self.retry.timeouts;
            failures += 1;
            if !may_repeat || failures >= self.retry.attempts {
                return Err(error);
            }
            tokio::time::sleep(pause.unwrap_or_else(|| self.retry.pause(failures))).await;
        }
    }

    /// All items of a list that is answered in pages.
    pub(crate) async fn every<T: DeserializeOwned>(
        &self,
        path: &[&str],
        tenant: Option<&str>,
    ) -> Result<Vec<T>, Error> {
        let (mut items, mut after) = (Vec::new(), None::<String>);
        loop {
            let query = [("tenant", tenant), ("after", after.as_deref())];
            let query = query.into_iter().filter_map(|(name, value)| Some((name, value?)));
            let query: Vec<(&str, &str)> = query.collect();
            let request = self.request(Method::GET, path).query(&query);
            let page: ListPage<T> = self.json(request, Repeat::Safe).await?;
            items.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// Sends the request and reads the answer as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        repeat: Repeat,
    ) -> Result<T, Error> {
        let mut failures = 0;
        loop {
            let again = request.try_clone().expect("every body is held in memory");
            match self.send(again, repeat).await?.bytes().await {
                Ok(body) => return self.parse(&body),
                // The connection broke after the head of the answer.
                Err(error) => {
                    failures += 1;
                    if repeat == Repeat::Unsafe || failures >= self.retry.attempts {
                        return Err(self.unreachable(root_cause(&error)));
                    }
                    tokio::time::sleep(self.retry.pause(failures)).await;
                }
            }
        }
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(body)
            .map_err(|error| Error::unexpected(self.url(), format!("{error} in {}", excerpt(body))))
    }

    /// The body of an answer.
    pub(crate) async fn body(&self, response: Response) -> Result<Bytes, Error> {
        response.bytes().await.map_err(|error| self.unreachable(root_cause(&error)))
    }

    pub(crate) fn unreachable(&self, reason: String) -> Error {
        Error::Unreachable { url: self.url().to_owned(), reason }
    }

    async fn refusal(&self, response: Response) -> Error {
        let status = response.status();
        let body = response.bytes().await.unwrap_or_default();
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Error::Problem(Box::new(problem)),
            Err(_) => Error::unexpected(self.url(), format!("HTTP {status}, {}", excerpt(&body))),
        }
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds: u64 = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.min(RETRY_AFTER_SECONDS_MAX)))
}

fn excerpt(body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body).chars().take(EXCERPT_CHARS_MAX).collect();
    if text.is_empty() { "an empty body".to_owned() } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_limit_and_keep_their_half() {
        let retry = Retry::SHORT;
        for failures in 1..40 {
            let full = retry.pause_min.saturating_mul(1 << (failures - 1).min(20));
            let full = full.min(retry.pause_max);
            let pause = retry.pause(failures);
            assert!(pause <= full && pause >= full / 2, "{pause:?} of {full:?}");
        }
    }

    #[test]
    fn a_wrong_address_is_explained() {
        for url in ["", "localhost:7700", "ftp://host", "http://"] {
            let error = Client::new(url, "key").expect_err(url);
            assert!(error.to_string().contains("http://127.0.0.1:7700"), "{error}");
        }
        assert!(Client::new("http://host", "a\nb").is_err());
    }

    #[tokio::test]
    async fn a_safe_call_without_an_answer_is_made_again() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        // It accepts what comes and says nothing.
        let (tell, calls) = tokio::sync::watch::channel(0);
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((connection, _)) = listener.accept().await {
                held.push(connection);
                tell.send_replace(held.len());
            }
        });
        let pauses = (Duration::from_millis(1), Duration::from_millis(1));
        let retry = Retry { attempts: 20, pause_min: pauses.0, pause_max: pauses.1, timeouts: 1 };
        let client = Client::new(&url, "key").expect("plain").with_retry(retry);
        let hurried = |client: &Client| {
            client.request(Method::GET, &["batches"]).timeout(Duration::from_millis(20))
        };
        let begin_max = Duration::from_millis(20);
        for repeat in [Repeat::Safe, Repeat::Unsafe] {
            let error = client.send(hurried(&client), repeat).await.expect_err("no answer");
            assert!(matches!(error, Error::Unreachable { .. }), "{error}");
        }
        let slow = client.request(Method::GET, &["batches"]);
        let error = client.begin(slow, Repeat::Safe, begin_max).await.expect_err("no answer");
        assert!(error.to_string().contains("no answer within"), "{error}");
        assert_eq!(*calls.borrow(), 5, "twice, once, twice");
    }

    #[test]
    fn paths_are_escaped_below_the_base() {
        let client = Client::new("http://host/assay/", "key").expect("plain");
        let request = client.request(Method::GET, &["plugins", "team/math"]).build();
        assert_eq!(
            request.expect("plain").url().as_str(),
            "http://host/assay/v1/plugins/team%2Fmath"
        );
        assert!(!format!("{client:?}").contains("key"));
    }
}
