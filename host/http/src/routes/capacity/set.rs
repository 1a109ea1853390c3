//! `PUT /v1/capacity/{pool}`: set the bounds of a pool.

use std::sync::Arc;

use assay_api::capacity::{PoolCapacity, SetCapacity};
use assay_core::limits;
use assay_core::plugin::check_name;
use assay_dispatch::now;
use assay_dispatch::planning::Bounds;
use assay_store::capacity::CapacityRow;
use axum::Json;
use axum::extract::{Path, State};
use tokio::sync::Mutex;

use crate::app::{App, AppState};
use crate::auth::Caller;
use crate::extract::body;
use crate::extract::guard::{Platform, Scoped};
use crate::finishing::to_end;
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;

/// Held while a pool is set, so that the stored bounds are those in effect.
static SETTING: Mutex<()> = Mutex::const_new(());

/// Set the minimum and maximum number of workers of a pool. It takes effect at once and lasts over
/// restarts, where it overrides the command line. Busy workers above `max` finish their requests.
#[utoipa::path(
    put, path = "/v1/capacity/{pool}", tag = "capacity", params(("pool" = String, Path)),
    request_body = SetCapacity,
    responses((status = 200, body = PoolCapacity))
)]
pub(crate) async fn set(
    State(app): AppState,
    caller: Scoped<Platform>,
    Path(pool): Path<String>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<Json<PoolCapacity>, ApiError> {
    let SetCapacity { min, max } = body::parse(&body)?;
    check_name("pool", &pool, limits::PLUGIN_NAME_BYTES_MAX).map_err(ApiError::bad_request)?;
    if min > max || max > limits::POOL_WORKERS_MAX {
        let most = limits::POOL_WORKERS_MAX;
        let detail = format!("min must be 0 to max, and max at most {most}");
        let field = if max > most { "max" } else { "min" };
        return Err(ApiError::bad_request(detail).field(field));
    }
    let caller = caller.into_caller();
    to_end(apply(app, caller, pool, min, max)).await.map(Json)
}

async fn apply(
    app: Arc<App>,
    caller: Caller,
    pool: String,
    min: u32,
    max: u32,
) -> Result<PoolCapacity, ApiError> {
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
    after.ok_or_else(|| ApiError::not_found("pool"))
}
