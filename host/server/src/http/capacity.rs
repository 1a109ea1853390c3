//! Pools, their workers and bounds: for the platform's administrators.

use assay_model::api::{Problem, Scope};
use assay_model::capacity::{Capacity, PoolCapacity, SetCapacity};
use assay_model::limits;
use assay_model::operations::{CapacityHistory, CapacityHistoryFilter, PoolHistory};
use assay_model::plugin::check_name;
use assay_model::time::Micros;
use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use tokio::sync::Mutex;

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, body};
use crate::dispatch::now;
use crate::dispatch::planning::Bounds;
use crate::store::capacity::CapacityRow;

const HISTORY_DEFAULT: Micros = Micros::from_secs(3_600);

/// Held while a pool is set, so that what is stored last is what holds.
static SETTING: Mutex<()> = Mutex::const_new(());

/// Every pool: bounds, workers, what waits, and what the planner wants and why.
#[utoipa::path(
    get, path = "/v1/capacity", tag = "capacity",
    responses(
        (status = 200, body = Capacity),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(State(app): AppState, caller: Caller) -> Result<Json<Capacity>, ApiError> {
    caller.need(Scope::Platform)?;
    Ok(Json(app.dispatch.capacity().await?))
}

/// Set how many workers a pool has at least and at most. It holds at once, and over restarts, where
/// it overrides the command line. Busy workers above `max` finish what they do.
#[utoipa::path(
    put, path = "/v1/capacity/{pool}", tag = "capacity", params(("pool" = String, Path)),
    request_body = SetCapacity,
    responses(
        (status = 200, body = PoolCapacity),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn set(
    State(app): AppState,
    caller: Caller,
    Path(pool): Path<String>,
    body: Body,
) -> Result<Json<PoolCapacity>, ApiError> {
    caller.need(Scope::Platform)?;
    let (SetCapacity { min, max }, _) = body::json(body).await?;
    check_name("pool", &pool, limits::PLUGIN_NAME_BYTES_MAX).map_err(ApiError::bad_request)?;
    if min > max || max > limits::POOL_WORKERS_MAX {
        let most = limits::POOL_WORKERS_MAX;
        return Err(ApiError::bad_request(format!("min must be 0 to max, and max at most {most}")));
    }
    let _one = SETTING.lock().await;
    let pools = app.dispatch.capacity().await?.pools;
    let before = pools.iter().find(|known| known.pool == pool);
    if before.is_none() && pools.len() >= limits::POOLS_MAX {
        let detail = format!("there are {} pools, which is the limit", pools.len());
        return Err(ApiError::conflict("too_many_pools", detail));
    }
    let row = CapacityRow { pool: pool.clone(), min, max, set_at: now() };
    app.store.set_capacity(&row, &caller.actor()).await?;
    app.dispatch.set_bounds(&pool, Bounds { min: min as usize, max: max as usize }).await?;
    let before = before.map_or("unknown".into(), |known| format!("{}..{}", known.min, known.max));
    tracing::info!(
        tenant.id = %caller.tenant,
        worker.pool = pool,
        "the workers of a pool were set from {before} to {min}..{max}"
    );
    let after = app.dispatch.capacity().await?.pools.into_iter().find(|known| known.pool == pool);
    after.map(Json).ok_or_else(|| ApiError::not_found("pool"))
}

/// How pools stood and what the planner decided, over time.
#[utoipa::path(
    get, path = "/v1/capacity/history", tag = "capacity", params(CapacityHistoryFilter),
    responses(
        (status = 200, body = CapacityHistory),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn history(
    State(app): AppState,
    caller: Caller,
    filter: Result<Query<CapacityHistoryFilter>, QueryRejection>,
) -> Result<Json<CapacityHistory>, ApiError> {
    caller.need(Scope::Platform)?;
    let Query(filter) = filter.map_err(|error| ApiError::bad_request(error.body_text()))?;
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
