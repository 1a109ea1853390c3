//! Probes (open to all), metrics and the OpenAPI document (with any key).

use assay_model::api::{Problem, Scope};
use assay_model::capacity::{Capacity, PoolWorkers};
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use metrics::gauge;

use super::AppState;
use super::auth::Caller;
use super::problem::ApiError;
use crate::dispatch::Snapshot;

/// The process runs.
pub(super) async fn livez() -> &'static str {
    "ok\n"
}

/// The process can do its work: the database answers and the dispatcher turns.
pub(super) async fn readyz(State(app): AppState) -> Result<Json<serde_json::Value>, ApiError> {
    app.store.ping().await?;
    let snapshot = app.dispatch.snapshot().await?;
    let workers: usize = snapshot.pools.iter().map(|pool| pool.workers).sum();
    Ok(Json(serde_json::json!({ "status": "ready", "workers": workers })))
}

/// Metrics in the Prometheus text format.
#[utoipa::path(
    get, path = "/metrics", tag = "operations",
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn metrics(State(app): AppState, caller: Caller) -> Result<Response, ApiError> {
    caller.need(Scope::Platform)?;
    measure(&app.dispatch.snapshot().await?);
    measure_pools(&app.dispatch.capacity().await?);
    gauge!("assay_room_free_bytes").set(app.dispatch.room.free_bytes() as f64);
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, app.metrics.render()).into_response())
}

fn measure(snapshot: &Snapshot) {
    gauge!("assay_live_batches").set(snapshot.batches as f64);
    gauge!("assay_live_requests").set(snapshot.requests as f64);
    for pool in &snapshot.pools {
        let name = pool.pool.to_string();
        gauge!("assay_stage_queue_requests", "pool" => name.clone()).set(pool.queued as f64);
        gauge!("assay_pool_leases", "pool" => name).set(pool.in_hand as f64);
    }
}

fn measure_pools(capacity: &Capacity) {
    for pool in &capacity.pools {
        let PoolWorkers { starting, idle, busy, draining } = pool.workers;
        let states =
            [("starting", starting), ("idle", idle), ("busy", busy), ("draining", draining)];
        for (state, count) in states {
            gauge!("assay_pool_workers", "pool" => pool.pool.clone(), "state" => state)
                .set(f64::from(count));
        }
        let Some(target) = &pool.target else { continue };
        let kinds =
            [("hold", target.hold), ("ceiling", target.ceiling), ("zero_queue", target.zero_queue)];
        for (kind, count) in kinds {
            gauge!("assay_planner_target_workers", "pool" => pool.pool.clone(), "kind" => kind)
                .set(f64::from(count));
        }
    }
}

/// The OpenAPI document, rendered once.
#[derive(Clone)]
pub(super) struct Document {
    json: Bytes,
}

impl Document {
    pub(super) fn new(document: &utoipa::openapi::OpenApi) -> Self {
        Self { json: serde_json::to_vec(document).expect("the document is plain data").into() }
    }

    pub(super) async fn serve(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.json).into_response()
    }
}
