//! `POST /v1/invitations/accept`: accept an invitation.

use assay_api::people::{AcceptInvitation, Session};
use assay_core::id::Digest;
use assay_dispatch::now;
use assay_store::people::Acceptance;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;

use crate::app::AppState;
use crate::auth::sign_in::{Peer, Proved, check_name, check_password};
use crate::extract::body;
use crate::problem::ApiError;
use crate::routes::session::signed_in;

/// Accept an invitation: set a password, once, and sign in.
#[utoipa::path(
    post, path = "/v1/invitations/accept", tag = "session", request_body = AcceptInvitation,
    security(()),
    responses((status = 201, body = Session))
)]
pub(crate) async fn accept(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    app.sign_in.check_origin(&uri, &headers)?;
    app.sign_in.attempt(peer, &headers, None)?;
    let AcceptInvitation { token, name, password } = body::open_json(body).await?;
    name.as_deref().map_or(Ok(()), check_name)?;
    check_password("password", &password)?;
    let (token_hash, at) = (Digest::of(token.trim().as_bytes()), now());
    if !app.store.invitation_holds(token_hash, at).await? {
        // Before any time is spent on the password.
        return Err(ApiError::not_found("invitation").hint("ask for another one"));
    }
    let password_hash = &app.sign_in.passwords.hash(password).await?;
    let acceptance = Acceptance { token_hash, name: name.as_deref(), password_hash, at };
    let person = app.store.accept_invitation(&acceptance).await?;
    signed_in(&app, Proved { person, password_hash: Some(password_hash), tenant: None }).await
}
