//! `POST /v1/bootstrap`: make the first administrator of the platform.

use assay_api::people::{Bootstrap, Session, normal_email};
use assay_core::id::Digest;
use assay_dispatch::now;
use assay_store::people::FirstAdmin;
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

/// Create the first administrator of the platform, and sign in. It works once.
#[utoipa::path(
    post, path = "/v1/bootstrap", tag = "session", request_body = Bootstrap, security(()),
    responses((status = 201, body = Session))
)]
pub(crate) async fn bootstrap(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    app.sign_in.check_origin(&uri, &headers)?;
    app.sign_in.attempt(peer, &headers, None)?;
    let Bootstrap { token, email, name, password } = body::open_json(body).await?;
    let email =
        normal_email(&email).map_err(|error| ApiError::bad_request(error).field("email"))?;
    check_name(&name)?;
    check_password("password", &password)?;
    let token_hash = Digest::of(token.trim().as_bytes());
    let made = app.sign_in.first_admin(token_hash, async |tenants| {
        let password_hash = app.sign_in.passwords.hash(password).await?;
        let admin =
            FirstAdmin { email: &email, name: &name, password_hash: &password_hash, tenants };
        let person = app.store.create_first_admin(&admin, now()).await?;
        app.keys.forget_person(person);
        Ok((person, password_hash))
    });
    let (person, password_hash) = made.await?;
    signed_in(&app, Proved { person, password_hash: Some(&password_hash), tenant: None }).await
}
