//! `POST /v1/members`: add a member by their address.

use assay_api::key::Scope;
use assay_api::people::{AddMember, Member, normal_email};
use assay_store::members::{AddedBy, NewMember};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::managed;
use crate::app::AppState;
use crate::auth::sign_in::check_name;
use crate::extract::body;
use crate::extract::guard::{Admin, Scoped};
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;
use crate::routes::people::{new_invitation, shown};

/// Add a member by their address. For a new person the answer has an invitation, which is shown
/// only once.
#[utoipa::path(
    post, path = "/v1/members", tag = "people", request_body = AddMember,
    responses((status = 201, body = Member))
)]
pub(crate) async fn add(
    State(app): AppState,
    caller: Scoped<Admin>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<(StatusCode, Json<Member>), ApiError> {
    let call: AddMember = body::parse(&body)?;
    let tenant = managed(&app, &caller, call.tenant.as_deref()).await?;
    let email =
        normal_email(&call.email).map_err(|error| ApiError::bad_request(error).field("email"))?;
    check_name(&call.name)?;
    let by_platform = caller.has(Scope::Platform);
    let (token, invitation) = new_invitation();
    let member = NewMember {
        tenant,
        email: &email,
        name: &call.name,
        role: call.role,
        added_by: if by_platform { AddedBy::Platform } else { AddedBy::Tenant },
        invitation,
    };
    let (mut added, invited) = app.store.add_member(&member, &caller.actor()).await?;
    // Personal keys were revoked if somebody else may have made them.
    app.keys.forget_person(added.person);
    added.invitation = invited.then(|| shown(&token, invitation));
    Ok((StatusCode::CREATED, Json(added)))
}
