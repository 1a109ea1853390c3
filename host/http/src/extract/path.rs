//! The id in a path.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use crate::problem::ApiError;

/// The id that is the first parameter of the path. A text that is no id is answered by 404.
pub(crate) struct PathId<T>(pub T);

impl<T: FromStr<Err: Into<ApiError>>, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let parameters = RawPathParams::from_request_parts(parts, state).await;
        let parameters = parameters.map_err(|error| ApiError::bad_request(error.body_text()))?;
        let (_, id) = parameters.iter().next().unwrap_or_default();
        id.parse().map(Self).map_err(Into::into)
    }
}
