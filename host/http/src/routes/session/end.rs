//! `DELETE /v1/session`: sign out.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse as _, Response};

use crate::app::AppState;
use crate::auth::removed_cookie;
use crate::extract::guard::SessionCaller;
use crate::problem::ApiError;

/// Sign out.
#[utoipa::path(
    delete, path = "/v1/session", tag = "session",
    responses((status = 204))
)]
pub(crate) async fn end(
    State(app): AppState,
    SessionCaller { session, .. }: SessionCaller,
) -> Result<Response, ApiError> {
    app.store.end_session(session.token.hash()).await?;
    let cookie = removed_cookie(app.sign_in.origins.secure());
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(SET_COOKIE, cookie)])).into_response())
}
