//! Gives every response its `Request-Id`, and every error its RFC 9457 problem.

use std::any::Any;

use assay_api::problem::Problem;
use axum::body::Body;
use axum::extract::Request;
use axum::http::response::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::middleware::drain_body::UnreadBody;
use crate::problem::ApiError;

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

const REQUEST_ID_BYTES_MAX: usize = 128;

const REFUSAL_BYTES_MAX: usize = 4 << 10;

/// The answer of a handler that panicked.
#[expect(clippy::needless_pass_by_value, reason = "the layer's signature")]
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!("a handler panicked: {message}");
    ApiError::internal().into_response()
}

/// Gives every response its `Request-Id` and every error its problem body.
pub(crate) async fn finish(mut request: Request, next: Next) -> Response {
    let given = request.headers().get(REQUEST_ID).filter(|id| {
        (1..=REQUEST_ID_BYTES_MAX).contains(&id.len())
            && id.as_bytes().iter().all(u8::is_ascii_graphic)
    });
    let id = given.cloned().unwrap_or_else(|| {
        let id = uuid::Uuid::now_v7().simple().to_string();
        HeaderValue::from_str(&id).expect("a UUID is ASCII")
    });
    let rest = UnreadBody::lend(&mut request);
    let mut response = next.run(request).await;
    rest.discard().await;
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        let error = response.extensions_mut().remove::<ApiError>();
        let (parts, body) = response.into_parts();
        let error = match error {
            Some(error) => error,
            None => from_status(status, body).await,
        };
        response = with_body(parts, &error, &id);
    }
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// The error of a refusal by the router or an extractor, whose body is a line of text.
async fn from_status(status: StatusCode, body: Body) -> ApiError {
    match status {
        StatusCode::NOT_FOUND => {
            ApiError::not_found("route").hint("GET /openapi.json lists every route")
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            ApiError::new(status, "method_not_allowed", "this route has no such method")
        }
        _ => {
            let body = axum::body::to_bytes(body, REFUSAL_BYTES_MAX).await.unwrap_or_default();
            let text = String::from_utf8_lossy(&body).into_owned();
            let reason = || status.canonical_reason().unwrap_or("the call was refused").into();
            let detail = if text.is_empty() { reason() } else { text };
            let code = if status == StatusCode::BAD_REQUEST { "bad_request" } else { "refused" };
            ApiError::new(status, code, detail)
        }
    }
}

fn with_body(mut parts: Parts, error: &ApiError, id: &HeaderValue) -> Response {
    let problem = Problem {
        kind: "about:blank".into(),
        title: error.status.canonical_reason().unwrap_or("Error").into(),
        status: error.status.as_u16(),
        code: error.code.into(),
        detail: printable(&error.detail),
        hint: error.hint.as_deref().map(printable),
        field: error.field.as_deref().map(printable),
        request_id: id.to_str().ok().map(str::to_owned),
    };
    let body = serde_json::to_vec(&problem).expect("a problem is plain data");
    parts.headers.remove(header::CONTENT_LENGTH);
    let kind = HeaderValue::from_static("application/problem+json");
    parts.headers.insert(header::CONTENT_TYPE, kind);
    Response::from_parts(parts, body.into())
}

/// Texts of errors quote what the caller sent, and programs show them on terminals.
fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn a_problem_has_no_control_characters() {
        let refuse = async || ApiError::bad_request("no member `a\u{1b}[2J\nb`").field("a\u{7f}");
        let router = Router::new().fallback(refuse).layer(from_fn(finish));
        let answer = router.oneshot(Request::new(Body::empty())).await.expect("it never fails");
        let body = axum::body::to_bytes(answer.into_body(), 1_000).await.expect("a short body");
        let problem: Problem = serde_json::from_slice(&body).expect("a problem");
        assert_eq!(
            (problem.detail.as_str(), problem.field.as_deref()),
            ("no member `a [2J b`", Some("a "))
        );
    }
}
