//! The dashboard: files that were built into the program (`build.rs`), and the page that all of the
//! client's routes share. Serves whatever no route of the REST interface has. Never reads a disk, and
//! never answers with the page where something else was asked for: a missing script is missing.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::middleware::headers::OwnPolicy;
use crate::random::random;

/// The prefix of paths with files whose names hold the hash of their content.
const HASHED: &str = "/assets/";
const PAGE: &str = "/index.html";
const PLACE_OF_NONCE: &str = r#"<meta name="csp-nonce" content=""#;
const ABSENT: &str = "The dashboard is not part of this build of Assay: install Node 20.19 or newer, run \
                      `make web`, and build the server again. The REST interface is here: GET /openapi.json \
                      describes it.\n";

static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));
static DASHBOARD: LazyLock<Dashboard> = LazyLock::new(|| Dashboard::new(FILES));

/// Whether this program has the dashboard in it.
#[must_use]
pub fn has_dashboard() -> bool {
    DASHBOARD.page.is_some()
}

/// Answers what no route answers.
pub(super) async fn serve(request: Request) -> Response {
    DASHBOARD.answer(request.method(), request.uri().path(), request.headers())
}

/// A file as the build left it.
#[derive(Debug)]
struct File {
    path: &'static str,
    /// The digest of `bytes`, in hexadecimal.
    digest: &'static str,
    bytes: &'static [u8],
    /// The bytes compressed by gzip; `None` if that is not smaller.
    gzip: Option<&'static [u8]>,
}

/// The page, cut where each answer's nonce goes.
#[derive(Debug)]
struct Page {
    before: &'static str,
    after: &'static str,
}

#[derive(Debug)]
struct Dashboard {
    files: HashMap<&'static str, &'static File>,
    /// The page; absent where no dashboard was built.
    page: Option<Page>,
}

impl Dashboard {
    fn new(files: &'static [File]) -> Self {
        let page = files.iter().find(|file| file.path == PAGE).map(|file| {
            let text = str::from_utf8(file.bytes).expect("the build makes UTF-8");
            let place = text.find(PLACE_OF_NONCE).expect("the build checks for it");
            let (before, after) = text.split_at(place + PLACE_OF_NONCE.len());
            Page { before, after }
        });
        let files = files.iter().filter(|file| file.path != PAGE);
        Self { files: files.map(|file| (file.path, file)).collect(), page }
    }

    fn answer(&self, method: &Method, path: &str, headers: &HeaderMap) -> Response {
        let read = matches!(*method, Method::GET | Method::HEAD);
        if !read || path == "/v1" || path.starts_with("/v1/") {
            return StatusCode::NOT_FOUND.into_response();
        }
        if let Some(file) = self.files.get(path) {
            return file.answer(headers);
        }
        // Any other path may be a route of the client, which a browser asks for as a page.
        let wanted = path == "/" || (asks_for_page(headers) && !path.starts_with(HASHED));
        match &self.page {
            _ if !wanted => StatusCode::NOT_FOUND.into_response(),
            Some(page) => page.answer(),
            None => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], ABSENT).into_response(),
        }
    }
}

impl Page {
    /// Each answer has a nonce of its own, so that none can be kept and asked about: the body of one
    /// with the headers of another would have no styles.
    fn answer(&self) -> Response {
        let nonce = nonce();
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; \
             img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
             form-action 'self'; frame-ancestors 'none'"
        );
        let policy = HeaderValue::try_from(policy).expect("base64 is ASCII");
        let body = [self.before, &nonce, self.after].concat();
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
            (header::CONTENT_SECURITY_POLICY, policy),
        ];
        let mut response = (headers, body).into_response();
        response.extensions_mut().insert(OwnPolicy);
        response
    }
}

impl File {
    fn answer(&self, headers: &HeaderMap) -> Response {
        let gzip = self.gzip.filter(|_| takes_gzip(headers));
        let suffix = if gzip.is_some() { "-gzip" } else { "" };
        let tag = format!("\"{}{suffix}\"", self.digest);
        let known = lists(headers, header::IF_NONE_MATCH)
            .any(|known| known == "*" || known.trim_start_matches("W/") == tag);
        let mut response = match gzip {
            _ if known => StatusCode::NOT_MODIFIED.into_response(),
            Some(gzip) => ([(header::CONTENT_ENCODING, "gzip")], gzip).into_response(),
            None => self.bytes.into_response(),
        };
        let kept = if self.path.starts_with(HASHED) {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        let own = response.headers_mut();
        own.insert(header::ETAG, HeaderValue::try_from(tag).expect("hexadecimal is ASCII"));
        own.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
        own.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        own.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(self.path)));
        // As a page of its own, which an image can be opened as, it may do nothing.
        let policy = HeaderValue::from_static(crate::middleware::headers::NOTHING);
        own.insert(header::CONTENT_SECURITY_POLICY, policy);
        response.extensions_mut().insert(OwnPolicy);
        response
    }
}

/// The media type of a file that `web/` builds. Browsers refuse scripts and style sheets with another media
/// type.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn nonce() -> String {
    STANDARD.encode(random::<16>())
}

/// A browser that opens a page names the type; a script, an image or a program does not.
pub(super) fn asks_for_page(headers: &HeaderMap) -> bool {
    lists(headers, header::ACCEPT).any(|kind| kind.split(';').next() == Some("text/html"))
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    lists(headers, header::ACCEPT_ENCODING).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let weight = weight.trim().trim_start_matches("q=").parse::<f32>();
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// The parts of a header that is a list, over all its lines.
fn lists(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests;
