//! `PATCH /v1/people/{person}`: rename a person, or bar them from signing in.

use assay_api::people::{Person, SetPerson};
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::auth::sign_in::check_name;
use crate::extract::body;
use crate::extract::guard::{Platform, Scoped};
use crate::extract::path::PathId;
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;
use assay_core::id::PersonId;

/// Rename a person, or bar them from signing in.
#[utoipa::path(
    patch, path = "/v1/people/{person}", tag = "people", params(("person" = String, Path)),
    request_body = SetPerson,
    responses((status = 200, body = Person))
)]
pub(crate) async fn change(
    State(app): AppState,
    caller: Scoped<Platform>,
    PathId(id): PathId<PersonId>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<Json<Person>, ApiError> {
    let change: SetPerson = body::parse(&body)?;
    change.name.as_deref().map_or(Ok(()), check_name)?;
    let person = app.store.set_person(id, &change, &caller.actor(), now()).await?;
    app.keys.forget_person(id);
    Ok(Json(person))
}
