//! `POST /v1/session/tenant`: switch to another tenant.

use assay_api::people::{Session, SwitchTenant};
use axum::Json;
use axum::body::Body;
use axum::extract::State;

use super::show;
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::SessionCaller;
use crate::problem::ApiError;

/// Switch the session to another of your tenants.
#[utoipa::path(
    post, path = "/v1/session/tenant", tag = "session", request_body = SwitchTenant,
    responses((status = 200, body = Session))
)]
pub(crate) async fn switch(
    State(app): AppState,
    SessionCaller { session, .. }: SessionCaller,
    body: Body,
) -> Result<Json<Session>, ApiError> {
    let (SwitchTenant { tenant }, _) = body::json(body).await?;
    app.store.switch_session(session.token.hash(), &tenant).await?;
    Ok(Json(show(&app, &session.token).await?))
}
