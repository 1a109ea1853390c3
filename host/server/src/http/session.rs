//! Sessions: begun by a password, looked at, switched to another tenant, ended.

use std::sync::Arc;

use assay_model::api::Problem;
use assay_model::id::Digest;
use assay_model::limits;
use assay_model::people::{
    AcceptInvitation, Bootstrap, ChangePassword, Session, SessionKey, SessionPerson, SignIn,
    SignInMethods, SwitchTenant, normal_email,
};
use axum::body::Body;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json};

use super::auth::{Caller, CallerSession, Token, csrf_token, removed_cookie};
use super::problem::ApiError;
use super::sign_in::{self, Peer, check_password};
use super::{App, AppState, body};
use crate::dispatch::now;
use crate::store::audit::Actor;
use crate::store::people::{Acceptance, FirstAdmin};

/// How one can sign in.
#[utoipa::path(
    get, path = "/v1/session/methods", tag = "session", security(()),
    responses((status = 200, body = SignInMethods))
)]
pub(super) async fn methods(State(app): AppState) -> Json<SignInMethods> {
    Json(SignInMethods {
        password: true,
        oidc: app.sign_in.oidc.is_some(),
        bootstrap: app.sign_in.wants_first_admin().await,
    })
}

/// Sign in. The answer sets the cookie `assay_session`.
#[utoipa::path(
    post, path = "/v1/session", tag = "session", request_body = SignIn, security(()),
    responses(
        (status = 201, body = Session),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn sign_in(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    app.sign_in.check_origin(&uri, &headers)?;
    let (SignIn { email, password }, _) = body::json(body).await?;
    let email = normal_email(&email).map_err(|_| sign_in::failed())?;
    app.sign_in.attempt(peer, &headers, Some(&email))?;
    if password.len() > limits::PASSWORD_BYTES_MAX {
        return Err(sign_in::failed());
    }
    let known = app.store.credentials(&email).await?;
    let (hash, person) = known.map_or((None, None), |known| {
        (known.password_hash, (!known.disabled).then_some(known.person))
    });
    let right = app.sign_in.passwords.verify(password, hash).await?;
    let person = person.filter(|_| right).ok_or_else(sign_in::failed)?;
    app.sign_in.attempts.forgive(&email);
    signed_in(&app, person).await
}

/// Make the first administrator of the platform, once, and sign in as such.
#[utoipa::path(
    post, path = "/v1/bootstrap", tag = "session", request_body = Bootstrap, security(()),
    responses(
        (status = 201, body = Session),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn bootstrap(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    app.sign_in.check_origin(&uri, &headers)?;
    app.sign_in.attempt(peer, &headers, None)?;
    let (Bootstrap { token, email, name, password }, _) = body::json(body).await?;
    let email = normal_email(&email).map_err(ApiError::bad_request)?;
    check_name(&name)?;
    check_password(&password)?;
    let token_hash = crate::blob::digest(token.trim().as_bytes());
    let person = app.sign_in.first_admin(token_hash, async |tenants| {
        let password_hash = app.sign_in.passwords.hash(password).await?;
        let admin =
            FirstAdmin { email: &email, name: &name, password_hash: &password_hash, tenants };
        Ok(app.store.create_first_admin(&admin, now()).await?)
    });
    signed_in(&app, person.await?).await
}

/// Accept an invitation: set a password, once, and sign in.
#[utoipa::path(
    post, path = "/v1/invitations/accept", tag = "session", request_body = AcceptInvitation,
    security(()),
    responses(
        (status = 201, body = Session),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn accept(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    app.sign_in.check_origin(&uri, &headers)?;
    app.sign_in.attempt(peer, &headers, None)?;
    let (AcceptInvitation { token, name, password }, _) = body::json(body).await?;
    name.as_deref().map_or(Ok(()), check_name)?;
    check_password(&password)?;
    let (token_hash, at) = (crate::blob::digest(token.trim().as_bytes()), now());
    if !app.store.invitation_holds(token_hash, at).await? {
        // Before any time is spent on the password.
        return Err(ApiError::not_found("invitation").hint("ask for another one"));
    }
    let password_hash = &app.sign_in.passwords.hash(password).await?;
    let acceptance = Acceptance { token_hash, name: name.as_deref(), password_hash, at };
    let person = app.store.accept_invitation(&acceptance).await?;
    signed_in(&app, person).await
}

/// Who calls, as what, and what else there is to switch to.
#[utoipa::path(
    get, path = "/v1/session", tag = "session",
    responses(
        (status = 200, body = Session),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(State(app): AppState, caller: Caller) -> Result<Json<Session>, ApiError> {
    if let Some(session) = caller.session() {
        return Ok(Json(show(&app, &session.token).await?));
    }
    let key = match caller.actor() {
        Actor::Key { id, name, .. } => Some(SessionKey { id, name }),
        Actor::Person { .. } | Actor::Platform => None,
    };
    Ok(Json(Session {
        person: None,
        key,
        tenant: caller.tenant_name.to_string(),
        role: None,
        scopes: caller.scopes().to_vec(),
        csrf: None,
        expires_at: None,
        tenants: Vec::new(),
    }))
}

/// Switch the session to another of your tenants.
#[utoipa::path(
    post, path = "/v1/session/tenant", tag = "session", request_body = SwitchTenant,
    responses(
        (status = 200, body = Session),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn switch(
    State(app): AppState,
    caller: Caller,
    body: Body,
) -> Result<Json<Session>, ApiError> {
    let session = own(&caller)?;
    let (SwitchTenant { tenant }, _) = body::json(body).await?;
    app.store.switch_session(session.token.hash(), &tenant).await?;
    Ok(Json(show(&app, &session.token).await?))
}

/// Change your password. Your other sessions end.
#[utoipa::path(
    post, path = "/v1/session/password", tag = "session", request_body = ChangePassword,
    responses(
        (status = 204),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn change_password(
    State(app): AppState,
    caller: Caller,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let session = own(&caller)?;
    let (ChangePassword { current, new }, _) = body::json(body).await?;
    check_password(&new)?;
    let email = &session.row.email;
    app.sign_in.attempt(peer, &headers, Some(email))?;
    let known = app.store.credentials(email).await?;
    let hash = known.and_then(|known| known.password_hash);
    if !app.sign_in.passwords.verify(current, hash).await? {
        let detail = "the current password is wrong";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "password_wrong", detail));
    }
    app.sign_in.attempts.forgive(email);
    let hash = app.sign_in.passwords.hash(new).await?;
    let (person, kept): (_, Digest) = (session.row.person, session.token.hash());
    app.store.set_password(person, &hash, kept, &caller.actor(), now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sign out.
#[utoipa::path(
    delete, path = "/v1/session", tag = "session",
    responses(
        (status = 204),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn end(State(app): AppState, caller: Caller) -> Result<Response, ApiError> {
    app.store.end_session(own(&caller)?.token.hash()).await?;
    let cookie = removed_cookie(app.sign_in.origins.secure());
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(SET_COOKIE, cookie)])).into_response())
}

/// The session of who calls; a key has none.
fn own(caller: &Caller) -> Result<&CallerSession, ApiError> {
    caller.session().ok_or_else(|| {
        let detail = "this call is for people who signed in, not for keys";
        ApiError::new(StatusCode::FORBIDDEN, "session_missing", detail)
    })
}

pub(super) fn check_name(name: &str) -> Result<(), ApiError> {
    let max = limits::PERSON_NAME_BYTES_MAX;
    if name.len() > max || name.chars().any(char::is_control) {
        return Err(ApiError::bad_request(format!("name must be at most {max} plain characters")));
    }
    Ok(())
}

async fn signed_in(
    app: &Arc<App>,
    person: assay_model::id::PersonId,
) -> Result<Response, ApiError> {
    let (token, cookie) = sign_in::begin(app, person).await?;
    let session = show(app, &token).await?;
    Ok((StatusCode::CREATED, cookie, Json(session)).into_response())
}

/// A session as it is now.
async fn show(app: &App, token: &Token) -> Result<Session, ApiError> {
    let row = app.store.session(token.hash(), now()).await?;
    let row = row.ok_or_else(|| ApiError::conflict("session_ended", "the session has ended"))?;
    let tenants = app.store.memberships(row.person).await?;
    Ok(Session {
        person: Some(SessionPerson { id: row.person, email: row.email, name: row.name }),
        key: None,
        scopes: row.role.scopes(&row.tenant_name),
        tenant: row.tenant_name,
        role: Some(row.role),
        csrf: Some(csrf_token(token)),
        expires_at: Some(row.expires_at),
        tenants,
    })
}
