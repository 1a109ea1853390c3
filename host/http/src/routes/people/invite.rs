//! `POST /v1/people/{person}/invitation`: invite a person again who has lost their password.

use assay_api::people::Person;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::{new_invitation, shown};
use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use assay_core::id::PersonId;

/// Invite a person again who has lost their password. The old password and all sessions are
/// deleted, and personal keys are revoked. The answer has the invitation, which is shown only once.
#[utoipa::path(
    post, path = "/v1/people/{person}/invitation", tag = "people", params(("person" = String, Path)),
    responses((status = 201, body = Person))
)]
pub(crate) async fn invite(
    State(app): AppState,
    caller: Scoped<Platform>,
    PathId(id): PathId<PersonId>,
) -> Result<(StatusCode, Json<Person>), ApiError> {
    let (token, invitation) = new_invitation();
    let mut person = app.store.invite(id, invitation, &caller.actor()).await?;
    app.keys.forget_person(id);
    person.invitation = Some(shown(&token, invitation));
    Ok((StatusCode::CREATED, Json(person)))
}
