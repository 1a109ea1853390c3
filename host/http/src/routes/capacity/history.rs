//! `GET /v1/capacity/history`: samples and planner decisions of the pools.

use assay_api::operations::{CapacityHistory, CapacityHistoryFilter, PoolHistory};
use assay_core::time::Micros;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Platform, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;

const HISTORY_DEFAULT: Micros = Micros::from_secs(3_600);

/// The state of the pools and the planner's decisions over time.
#[utoipa::path(
    get, path = "/v1/capacity/history", tag = "capacity", params(CapacityHistoryFilter),
    responses((status = 200, body = CapacityHistory))
)]
pub(crate) async fn history(
    State(app): AppState,
    _: Scoped<Platform>,
    Query(filter): Query<CapacityHistoryFilter>,
) -> Result<Json<CapacityHistory>, ApiError> {
    let to = filter.to.unwrap_or_else(now);
    let from = filter.from.unwrap_or_else(|| to.since(HISTORY_DEFAULT));
    if from >= to {
        return Err(ApiError::bad_request("`from` must be before `to`"));
    }
    let known = app.dispatch.capacity().await?.pools.into_iter().map(|pool| pool.pool);
    let known: Vec<String> =
        known.filter(|pool| filter.pool.as_ref().is_none_or(|asked| asked == pool)).collect();
    if known.is_empty() && filter.pool.is_some() {
        return Err(ApiError::not_found("pool"));
    }
    let rows = app.store.capacity_samples(&known, from, to).await?;
    let mut pools = Vec::with_capacity(known.len());
    for pool in known {
        let of = rows.iter().filter(|row| row.pool == pool);
        let samples = of.map(|row| row.sample.clone()).collect();
        let decisions = app.store.plan_decisions(&pool, from, to).await?;
        pools.push(PoolHistory { pool, samples, decisions });
    }
    Ok(Json(CapacityHistory { from, to, pools }))
}
