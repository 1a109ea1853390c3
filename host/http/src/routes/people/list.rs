//! `GET /v1/people`: everybody.

use assay_api::people::PersonList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::problem::ApiError;

/// Every person.
#[utoipa::path(
    get, path = "/v1/people", tag = "people",
    responses((status = 200, body = PersonList))
)]
pub(crate) async fn list(
    State(app): AppState,
    _: Scoped<Platform>,
) -> Result<Json<PersonList>, ApiError> {
    Ok(Json(PersonList { items: app.store.people().await? }))
}
