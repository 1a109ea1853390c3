//! Errors of calls, which become RFC 9457 problems.

use std::borrow::Cow;

use assay_api::problem::FieldError;
use assay_core::id::BadId;
use assay_core::time::Micros;
use assay_dispatch::DispatchError;
use assay_registry::{RegistryError, ValidationError};
use assay_store::StoreError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Postgres' SQLSTATE for a NUL in a text.
const CHARACTER_NOT_IN_REPERTOIRE: &str = "22021";

/// The code of a label that does not match the plugin's schema, of a call or of one item.
pub(crate) const INVALID_LABEL: &str = "invalid_label";

const SCHEMA_HINT: &str = "GET /v1/plugins/{name} shows the schemas of a plugin's versions";

/// A call that failed. `code` is stable and for programs; `detail` is for people.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub status: StatusCode,
    pub code: &'static str,
    pub detail: String,
    pub hint: Option<Cow<'static, str>>,
    /// Member of the body that is at fault.
    pub field: Option<Cow<'static, str>>,
    pub retry_after_s: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), hint: None, field: None, retry_after_s: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.field = Some(field.into());
        self
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    pub(crate) fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// A tenant's quota is used up; the detail names the quota, its limit and the use.
    pub(crate) fn quota_exceeded(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "quota_exceeded", detail)
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
            .hint("check its name or id, and that your key belongs to its tenant")
    }

    /// Data that was deleted at the end of its retention.
    pub(crate) fn gone(expired_at: Micros) -> Self {
        let detail = format!(
            "the batch's requests and results were deleted on {expired_at}, at the end of their \
             retention"
        );
        Self::new(StatusCode::GONE, "gone", detail).hint(
            "its totals are kept: GET /v1/batches/{id}; `assay tenant set` sets the retention",
        )
    }

    pub(crate) fn too_large(what: &str, bytes_max: usize) -> Self {
        let detail = format!("{what} has more than {bytes_max} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    /// Settings that do not match the plugin's schema; the detail names the field.
    pub(crate) fn invalid_settings(error: ValidationError) -> Self {
        Self::invalid("invalid_settings", error)
    }

    /// A label that does not match the plugin's schema; the detail names the field.
    pub(crate) fn invalid_label(error: ValidationError) -> Self {
        Self::invalid(INVALID_LABEL, error)
    }

    fn invalid(code: &'static str, error: ValidationError) -> Self {
        let detail = error.to_string();
        match error {
            ValidationError::Mismatch(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail).hint(SCHEMA_HINT)
            }
            ValidationError::Interrupted(_) => Self::unavailable("not_validated", detail),
        }
    }

    pub(crate) fn unavailable(code: &'static str, detail: impl Into<String>) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail);
        error.retry_after_s = Some(1);
        error.hint("send the same call again; a repeat changes nothing")
    }

    /// The database refuses the rows of this call alone; a repeat would be refused again.
    pub(crate) fn not_kept(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "not_kept", detail).hint(
            "an incident of the run has the reason; send the call again once the server's operator has \
             removed it, or leave out what the database refuses",
        )
    }

    pub(crate) fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(
            status,
            "internal",
            "the server failed; ask its operator to look up the reason in the log",
        )
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

impl From<FieldError> for ApiError {
    fn from(FieldError { field, detail }: FieldError) -> Self {
        Self::bad_request(detail).field(field)
    }
}

impl From<BadId> for ApiError {
    fn from(error: BadId) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", error.to_string())
            .hint("use an id as another answer of this interface gives it")
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(what) => Self::not_found(what),
            StoreError::Conflict(detail) => Self::conflict("conflict", detail),
            StoreError::Expired(at) => Self::gone(at),
            StoreError::Unavailable(error) => {
                tracing::warn!(%error, "a call failed as the database cannot be reached");
                Self::unavailable("database_unavailable", "the database cannot be reached")
            }
            StoreError::TooSlow(error) => {
                tracing::warn!(%error, "a call failed as the database took too long");
                Self::unavailable("database_unavailable", "the database takes too long")
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
            RegistryError::CaseFailed(detail) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "golden_case_failed", detail).hint(
                    "correct the plugin or the cases; `assay plugin test` runs them. An \
                     administrator can publish with --skip-cases",
                )
            }
            RegistryError::CasesUnavailable(detail) => {
                Self::unavailable("cases_unavailable", detail)
            }
            RegistryError::NoPlugin(detail) => {
                Self::new(StatusCode::NOT_FOUND, "not_found", detail).hint(
                    "GET /v1/plugins or `assay plugin versions` lists the plugins of your key's tenant with \
                     their versions and channels",
                )
            }
            RegistryError::CompilerBusy(detail) => Self::unavailable("machine_overloaded", detail),
            RegistryError::ComponentMissing(_) => {
                Self::conflict("component_missing", error.to_string())
                    .hint("publish the same component again, or choose another version")
            }
            RegistryError::Store(error) => error.into(),
            RegistryError::Blob(error) => {
                tracing::error!(%error, "an object cannot be read or written");
                Self::unavailable("storage_unavailable", "the object store failed")
            }
            RegistryError::Scratch(_) => {
                tracing::error!("a plugin is not compiled: {error}");
                Self::unavailable("storage_unavailable", "the server's disk failed, or is full")
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
            DispatchError::NotRestored => Self::unavailable("plugin_unavailable", detail)
                .hint("the batch can be cancelled meanwhile"),
            DispatchError::Sealed => Self::conflict("batch_sealed", detail)
                .hint("submit every request before the seal and before expected_size is reached"),
            DispatchError::Ended => Self::conflict("batch_ended", detail),
            DispatchError::CountDiffers { .. } => Self::conflict("count_differs", detail)
                .hint("submit the missing requests, or leave final_count out"),
            DispatchError::OpenBatches { .. } => Self::quota_exceeded(detail)
                .hint("end or cancel batches before announcing more, or ask for a higher quota"),
            DispatchError::RequestsPerMinute { seconds, .. } => {
                let mut error = Self::quota_exceeded(detail);
                error.retry_after_s = Some(seconds);
                error.hint(format!(
                    "send it again in {seconds} s; a batch counts with its whole expected size"
                ))
            }
            DispatchError::KeyInUse => Self::conflict("idempotency_key_in_use", detail)
                .hint("send the same call again in a moment"),
            DispatchError::NoWorker => Self::not_found("worker"),
            DispatchError::NotKept => Self::not_kept(detail),
            DispatchError::Stopping => Self::unavailable("stopping", detail),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validation_that_did_not_end_is_no_fault_of_the_caller() {
        let interrupted = ApiError::invalid_label(ValidationError::Interrupted("label"));
        assert_eq!(interrupted.status, StatusCode::SERVICE_UNAVAILABLE);
        let mismatch = ApiError::invalid_label(ValidationError::Mismatch("/1".into()));
        assert_eq!(
            (mismatch.status, mismatch.code),
            (StatusCode::UNPROCESSABLE_ENTITY, INVALID_LABEL)
        );
    }
}
