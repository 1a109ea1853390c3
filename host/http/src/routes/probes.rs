//! `GET /livez` and `GET /readyz`, which need no key.

use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::problem::ApiError;

/// The process runs.
pub(crate) async fn livez() -> &'static str {
    "ok\n"
}

/// Whether the process can work: the database and the dispatcher answer.
pub(crate) async fn readyz(State(app): AppState) -> Result<Json<serde_json::Value>, ApiError> {
    app.store.ping().await?;
    // Shared by those who ask at the same time: anybody may.
    let workers = app.dispatch.observe().await?.worker_count();
    Ok(Json(serde_json::json!({ "status": "ready", "workers": workers })))
}
