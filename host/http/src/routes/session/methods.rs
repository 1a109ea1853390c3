//! `GET /v1/session/methods`: the ways to sign in.

use assay_api::people::SignInMethods;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;

/// The ways to sign in.
#[utoipa::path(
    get, path = "/v1/session/methods", tag = "session", security(()),
    responses((status = 200, body = SignInMethods))
)]
pub(crate) async fn methods(State(app): AppState) -> Json<SignInMethods> {
    Json(SignInMethods {
        password: true,
        oidc: app.sign_in.oidc.is_some(),
        bootstrap: app.sign_in.wants_first_admin().await,
    })
}
