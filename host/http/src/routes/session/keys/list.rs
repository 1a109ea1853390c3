//! `GET /v1/session/keys`: the caller's personal keys.

use assay_api::key::KeyList;
use assay_core::id::KeyId;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::SessionCaller;
use crate::extract::page::AdminPage;
use crate::problem::ApiError;

/// Your personal keys in the tenant of your session, without their secrets.
#[utoipa::path(
    get, path = "/v1/session/keys", tag = "session", params(AdminPage<KeyId>),
    responses((status = 200, body = KeyList))
)]
pub(crate) async fn list(
    State(app): AppState,
    SessionCaller { caller, session }: SessionCaller,
    page: AdminPage<KeyId>,
) -> Result<Json<KeyList>, ApiError> {
    let person = Some(session.row.person);
    let items = app.store.keys(caller.tenant, person, &page.rows(None), now()).await?;
    let next = page.next(&items, |last| last.id.to_string());
    Ok(Json(KeyList { items, next }))
}
