//! `GET /metrics`: metrics in the Prometheus text format.

use assay_api::capacity::{Capacity, PoolWorkers};
use assay_dispatch::SchedView;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use metrics::gauge;

use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::problem::ApiError;

/// Metrics in the Prometheus text format.
#[utoipa::path(
    get, path = "/metrics", tag = "operations",
    responses((status = 200, body = String, content_type = "text/plain"))
)]
pub(crate) async fn metrics(
    State(app): AppState,
    _: Scoped<Platform>,
) -> Result<Response, ApiError> {
    measure(&app.dispatch.view().await?);
    measure_pools(&app.dispatch.capacity().await?);
    gauge!("assay_admission_budget_free_bytes").set(app.dispatch.budget.free_bytes() as f64);
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, app.metrics.render()).into_response())
}

fn measure(view: &SchedView) {
    gauge!("assay_live_batches").set(view.batches.len() as f64);
    gauge!("assay_live_requests").set(view.requests() as f64);
    for (name, pool) in &view.pools {
        let name = name.to_string();
        gauge!("assay_stage_queue_requests", "pool" => name.clone()).set(pool.waiting as f64);
        gauge!("assay_pool_leases", "pool" => name).set(pool.leased as f64);
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
