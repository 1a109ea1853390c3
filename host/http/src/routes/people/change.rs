//! `PATCH /v1/people/{person}`: rename a person, or bar them from signing in.

use assay_api::key::Scope;
use assay_api::people::{Person, SetPerson};
use assay_dispatch::now;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};

use super::person_id;
use crate::app::AppState;
use crate::auth::Caller;
use crate::auth::sign_in::check_name;
use crate::extract::body;
use crate::problem::ApiError;

/// Rename a person, or bar them from signing in.
#[utoipa::path(
    patch, path = "/v1/people/{person}", tag = "people", params(("person" = String, Path)),
    request_body = SetPerson,
    responses((status = 200, body = Person))
)]
pub(crate) async fn change(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
    body: Body,
) -> Result<Json<Person>, ApiError> {
    caller.need(Scope::Platform)?;
    let id = person_id(&id, "person")?;
    let (change, _): (SetPerson, _) = body::json(body).await?;
    change.name.as_deref().map_or(Ok(()), check_name)?;
    Ok(Json(app.store.set_person(id, &change, &caller.actor(), now()).await?))
}
