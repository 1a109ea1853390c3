//! `/v1/session`: begun by a password, read, switched to another tenant, ended; and personal keys.

pub(crate) mod change_password;
pub(crate) mod end;
pub(crate) mod get;
pub(crate) mod keys;
pub(crate) mod methods;
pub(crate) mod oidc;
pub(crate) mod sign_in;
pub(crate) mod switch;

use std::sync::Arc;

use assay_api::people::{Session, SessionPerson};
use assay_dispatch::now;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::auth::sign_in::Proved;
use crate::auth::{Token, csrf_token};
use crate::problem::ApiError;

pub(crate) async fn signed_in(app: &Arc<App>, proved: Proved<'_>) -> Result<Response, ApiError> {
    let (token, cookie) = app.sign_in.begin(&app.store, proved).await?;
    let session = show(app, &token).await?;
    Ok((StatusCode::CREATED, cookie, Json(session)).into_response())
}

/// A session as it is now.
async fn show(app: &App, token: &Token) -> Result<Session, ApiError> {
    let row = app.store.session(token.hash(), now()).await?;
    let row = row.ok_or_else(|| ApiError::conflict("session_ended", "the session has ended"))?;
    let mut tenants = app.store.memberships(row.person).await?;
    tenants.sort_by(|one, other| one.tenant.cmp(&other.tenant));
    Ok(Session {
        person: Some(SessionPerson { id: row.person, email: row.email, name: row.name }),
        key: None,
        scopes: row.role.scopes(&row.tenant_name),
        tenant: row.tenant_name,
        role: Some(row.role),
        csrf: Some(csrf_token(token, row.tenant)),
        expires_at: Some(row.expires_at),
        tenants,
    })
}
