//! Errors as RFC 9457 problems, and the `Request-Id` of every response.

use std::any::Any;
use std::borrow::Cow;

use assay_model::api::Problem;
use assay_model::time::Micros;
use axum::body::Body;
use axum::extract::Request;
use axum::http::response::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::rest::Rest;
use crate::dispatch::DispatchError;
use crate::registry::RegistryError;
use crate::store::StoreError;

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const REQUEST_ID_BYTES_MAX: usize = 128;
const REFUSAL_BYTES_MAX: usize = 4 << 10;
/// Postgres' SQLSTATE for a NUL in a text.
const CHARACTER_NOT_IN_REPERTOIRE: &str = "22021";

/// A call that failed. `code` is stable; `detail` is for a person.
#[derive(Debug, Clone)]
pub(super) struct ApiError {
    pub status: StatusCode,
    pub code: &'static str,
    pub detail: String,
    pub hint: Option<Cow<'static, str>>,
    pub retry_after_s: Option<u64>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), hint: None, retry_after_s: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    pub(super) fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// Of a tenant; the detail names the quota, its limit and what is used.
    pub(super) fn quota_exceeded(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "quota_exceeded", detail)
    }

    pub(super) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
            .hint("it may belong to another tenant, or never have been")
    }

    /// What its tenant keeps no longer.
    pub(super) fn gone(expired_at: Micros) -> Self {
        let detail = format!(
            "the batch's requests and results were deleted on {expired_at}, as old as they were"
        );
        Self::new(StatusCode::GONE, "gone", detail).hint(
            "its totals are kept: GET /v1/batches/{id}; `assay tenant set` sets the retention",
        )
    }

    pub(super) fn too_large(what: &str, bytes_max: usize) -> Self {
        let detail = format!("{what} has more than {bytes_max} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    pub(super) fn unavailable(code: &'static str, detail: impl Into<String>) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail);
        error.retry_after_s = Some(1);
        error.hint("send the very same call again; repeats are harmless")
    }

    fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, "internal", "the server failed; its log has the reason")
    }
}

impl IntoResponse for ApiError {
    /// The body is written by [`finish`], which knows the request's id.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(what) => Self::not_found(what),
            StoreError::Conflict(detail) => Self::conflict("conflict", detail),
            StoreError::Unavailable(error) => {
                tracing::warn!(%error, "a call failed as the database cannot be reached");
                Self::unavailable("database_unavailable", "the database cannot be reached")
            }
            // Postgres keeps no NUL in text, so that nothing is named so.
            StoreError::Broken(error)
                if error.as_database_error().is_some_and(|error| {
                    error.code().is_some_and(|code| code == CHARACTER_NOT_IN_REPERTOIRE)
                }) =>
            {
                Self::bad_request("a text of the call has a NUL character")
            }
            StoreError::Broken(error) => {
                tracing::error!(%error, "a call failed as the database refused a query");
                Self::internal()
            }
        }
    }
}

impl From<RegistryError> for ApiError {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::Refused(detail) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "plugin_refused", detail)
            }
            RegistryError::NotGranted(detail) => {
                Self::new(StatusCode::FORBIDDEN, "not_granted", detail).hint(
                    "ask the platform's administrators; `assay tenant set NAME --gpu yes`, \
                     `--toolchains` and `--hosts` grant it",
                )
            }
            RegistryError::Store(error) => error.into(),
            RegistryError::Blob(error) => {
                tracing::error!(%error, "an object cannot be read or written");
                Self::unavailable("storage_unavailable", "the object store failed")
            }
            RegistryError::Compiler(error) => {
                tracing::error!("the compiler failed: {error:#}");
                Self::internal()
            }
        }
    }
}

impl From<DispatchError> for ApiError {
    fn from(error: DispatchError) -> Self {
        let detail = error.to_string();
        match error {
            DispatchError::NotLive => Self::not_found("batch"),
            DispatchError::Sealed => Self::conflict("batch_sealed", detail)
                .hint("submit every request before the seal and before expected_size is reached"),
            DispatchError::Ended => Self::conflict("batch_ended", detail),
            DispatchError::CountDiffers { .. } => Self::conflict("count_differs", detail)
                .hint("submit what is missing, or leave final_count out"),
            DispatchError::OpenBatches { .. } => Self::quota_exceeded(detail)
                .hint("end or cancel batches before announcing more, or ask for a higher quota"),
            DispatchError::RequestsPerMinute { seconds, .. } => {
                let mut error = Self::quota_exceeded(detail);
                error.retry_after_s = Some(seconds);
                error.hint(format!("there is room in {seconds} s; a batch takes its expected size"))
            }
            DispatchError::KeyInUse => Self::conflict("idempotency_key_in_use", detail)
                .hint("send the same call again in a moment"),
            DispatchError::NoWorker => Self::not_found("worker"),
            DispatchError::Stopping => Self::unavailable("stopping", detail),
        }
    }
}

/// The answer of a handler that panicked.
#[expect(clippy::needless_pass_by_value, reason = "the layer's signature")]
pub(super) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!("a handler panicked: {message}");
    ApiError::internal().into_response()
}

/// Gives every response its `Request-Id` and every error its problem body.
pub(super) async fn finish(mut request: Request, next: Next) -> Response {
    let given = request.headers().get(REQUEST_ID).filter(|id| {
        (1..=REQUEST_ID_BYTES_MAX).contains(&id.len())
            && id.as_bytes().iter().all(u8::is_ascii_graphic)
    });
    let id = given.cloned().unwrap_or_else(|| {
        let id = uuid::Uuid::now_v7().simple().to_string();
        HeaderValue::from_str(&id).expect("a UUID is ASCII")
    });
    let rest = Rest::lend(&mut request);
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

/// For what the router and its extractors refuse: their bodies are a line of text.
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
        detail: error.detail.clone(),
        hint: error.hint.as_ref().map(ToString::to_string),
        request_id: id.to_str().ok().map(str::to_owned),
    };
    let body = serde_json::to_vec(&problem).expect("a problem is plain data");
    parts.headers.remove(header::CONTENT_LENGTH);
    let kind = HeaderValue::from_static("application/problem+json");
    parts.headers.insert(header::CONTENT_TYPE, kind);
    Response::from_parts(parts, body.into())
}
