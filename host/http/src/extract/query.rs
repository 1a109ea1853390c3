//! The query of a call: a query that cannot be read is a problem like every other.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::ApiError;

pub(crate) struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        let query = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
        Ok(Self(query.0))
    }
}
