//! `GET /v1/people`: everybody.

use assay_api::key::Scope;
use assay_api::people::PersonList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::auth::Caller;
use crate::problem::ApiError;

/// Every person.
#[utoipa::path(
    get, path = "/v1/people", tag = "people",
    responses((status = 200, body = PersonList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Caller,
) -> Result<Json<PersonList>, ApiError> {
    caller.need(Scope::Platform)?;
    Ok(Json(PersonList { items: app.store.people().await? }))
}
