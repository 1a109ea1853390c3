//! `POST /v1/session/password`: change the caller's password.

use assay_api::people::ChangePassword;
use assay_core::id::Digest;
use assay_dispatch::now;
use assay_store::StoreError;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};

use crate::app::AppState;
use crate::auth::session_ended;
use crate::auth::sign_in::{Peer, check_password};
use crate::extract::body;
use crate::extract::guard::SessionCaller;
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;

/// Change your password. Your other sessions end.
#[utoipa::path(
    post, path = "/v1/session/password", tag = "session", request_body = ChangePassword,
    responses((status = 204))
)]
pub(crate) async fn change_password(
    State(app): AppState,
    SessionCaller { caller, session }: SessionCaller,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<StatusCode, ApiError> {
    let ChangePassword { current, new } = body::parse(&body)?;
    check_password("new", &new)?;
    let email = &session.row.email;
    app.sign_in.attempt(peer, &headers, Some(email))?;
    let known = app.store.credentials(email).await?;
    let checked = known.and_then(|known| known.password_hash);
    if !app.sign_in.passwords.verify(current, checked.clone()).await? {
        let detail = "the current password is wrong";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "password_wrong", detail).field("current"));
    }
    app.sign_in.attempts.forgive(app.sign_in.origin_of(peer, &headers), email);
    let hash = app.sign_in.passwords.hash(new).await?;
    let (person, kept): (_, Digest) = (session.row.person, session.token.hash());
    let hashes = (checked.as_deref().unwrap_or_default(), &*hash);
    let changed = app.store.set_password(person, hashes, kept, &caller.actor(), now()).await;
    changed.map_err(|error| match error {
        StoreError::NotFound(_) => session_ended(),
        error => error.into(),
    })?;
    Ok(StatusCode::NO_CONTENT)
}
