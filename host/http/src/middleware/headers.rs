//! The headers by which browsers keep answers to themselves and each answer in its place. They stand
//! on every answer, the router's own refusals included; nothing that a tenant wrote is ever a page.

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::auth::Origins;

/// The policy of every answer that is not a page: it loads, runs and embeds nothing, and has no
/// origin.
pub(crate) const NOTHING: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/// The headers that are the same for all answers.
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Addresses hold ids: no other site sees them. With `no-referrer` forms would lose their origin.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// Marks an answer that has its own policy and caching headers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnPolicy;

/// How browsers reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    ByTlsAlone,
    Anyhow,
}

impl Reached {
    pub(crate) fn of(origins: &Origins) -> Self {
        if origins.secure() { Self::ByTlsAlone } else { Self::Anyhow }
    }
}

/// The outermost layer.
pub(crate) async fn secure(
    State(reached): State<Reached>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    let own = response.extensions().get::<OwnPolicy>().is_some();
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !own {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(NOTHING));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if reached == Reached::ByTlsAlone {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    response
}
