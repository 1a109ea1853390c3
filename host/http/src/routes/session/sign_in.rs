//! `POST /v1/session`: sign in by a password.

use assay_api::people::{Session, SignIn, normal_email};
use assay_core::limits;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;

use super::signed_in;
use crate::app::AppState;
use crate::auth::sign_in::{self, Peer, Proved};
use crate::extract::body;
use crate::problem::ApiError;

/// Sign in. The answer sets the cookie `assay_session`, by the name `__Host-assay_session` where browsers use TLS.
#[utoipa::path(
    post, path = "/v1/session", tag = "session", request_body = SignIn, security(()),
    responses((status = 201, body = Session))
)]
pub(crate) async fn sign_in(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    app.sign_in.check_origin(&uri, &headers)?;
    let SignIn { email, password, tenant } = body::open_json(body).await?;
    let email = normal_email(&email).map_err(|_| sign_in::failed())?;
    app.sign_in.attempt(peer, &headers, Some(&email))?;
    if password.len() > limits::PASSWORD_BYTES_MAX {
        return Err(sign_in::failed());
    }
    let known = app.store.credentials(&email).await?;
    let (hash, person) = known.map_or((None, None), |known| {
        (known.password_hash, (!known.disabled).then_some(known.person))
    });
    let right = app.sign_in.passwords.verify(password, hash.clone()).await?;
    let known = person.filter(|_| right).zip(hash);
    let (person, hash) = known.ok_or_else(sign_in::failed)?;
    app.sign_in.attempts.forgive(app.sign_in.origin_of(peer, &headers), &email);
    let proved = Proved { person, password_hash: Some(&hash), tenant: tenant.as_deref() };
    signed_in(&app, proved).await
}
