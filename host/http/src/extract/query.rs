//! The query of a call: a query that cannot be read is a problem like every other.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::problem::ApiError;

pub(crate) struct Query<T>(pub T);

/// The query of a list that can be searched.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// Part of a name; upper and lower case are alike.
    pub q: Option<String>,
}

/// The query of a list of a tenant that can be searched.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TenantSearchQuery {
    /// Name of the tenant; your own when absent.
    pub tenant: Option<String>,
    /// Part of a name; upper and lower case are alike.
    pub q: Option<String>,
}

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        let query = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
        Ok(Self(query.0))
    }
}
