//! `GET /v1/workers/remote`: the workers of other machines.

use std::collections::HashSet;

use assay_api::remote_workers::{RemoteWorker, RemoteWorkerList};
use axum::Json;
use axum::extract::State;

use super::remote;
use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::problem::ApiError;

/// The workers of other machines that may connect, whether or not they are connected.
#[utoipa::path(
    get, path = "/v1/workers/remote", tag = "operations",
    responses((status = 200, body = RemoteWorkerList))
)]
pub(crate) async fn list_remote(
    State(app): AppState,
    _: Scoped<Platform>,
) -> Result<Json<RemoteWorkerList>, ApiError> {
    let rows = remote(&app)?.list().await?;
    let observed = app.dispatch.observe().await?;
    let connected: HashSet<_> =
        app.dispatch.workers(&observed).into_iter().map(|worker| worker.ticket).collect();
    let items = rows.into_iter().map(|row| RemoteWorker {
        id: row.id,
        pool: row.pool,
        machine: row.machine,
        joined_at: row.joined_at,
        expires_at: row.expires_at,
        connected: connected.contains(&row.id),
    });
    Ok(Json(RemoteWorkerList { items: items.collect() }))
}
