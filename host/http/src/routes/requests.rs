//! `/v1/requests`: one request with all that is kept about it.

pub(crate) mod artifact;
mod context;
pub(crate) mod get;
pub(crate) mod logs;
pub(crate) mod replay;

use assay_core::id::RequestId;

use crate::problem::ApiError;

pub(crate) fn request_id(text: &str) -> Result<RequestId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("request"))
}
