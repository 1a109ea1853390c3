//! `GET /v1/tenants/{name}/usage`: use of quotas now, and use by day and pool.

use std::collections::BTreeMap;

use assay_api::tenant::{TenantUsage, Used};
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::now;
use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;

use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::tenants;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    /// Number of days up to today: 30 when absent, 400 at most.
    days: Option<u32>,
}

/// The current use of a tenant's quotas, and its usage and cost by pool and day (UTC). A batch
/// counts on the day on which it ends.
#[utoipa::path(
    get, path = "/v1/tenants/{name}/usage", tag = "tenants",
    params(("name" = String, Path), UsageQuery),
    responses((status = 200, body = TenantUsage))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<Admin>,
    Path(name): Path<String>,
    Query(query): Query<UsageQuery>,
) -> Result<Json<TenantUsage>, ApiError> {
    let tenant = tenants::find(&app, &caller, &name).await?;
    let asked = query.days.unwrap_or(limits::USAGE_DAYS_DEFAULT).clamp(1, limits::USAGE_DAYS_MAX);
    let days = app.store.usage(tenant.id, now().since(Micros::from_days(asked - 1))).await?;
    let used = app.dispatch.tenant_use(tenant.id).await?;
    let quotas = tenant.settings.quotas;
    let mut workers: BTreeMap<String, Used> =
        used.workers.into_iter().map(|(pool, used)| (pool, Used { used, max: None })).collect();
    for (pool, max) in quotas.workers_max {
        workers.entry(pool).or_default().max = Some(max.into());
    }
    let most = limits::OPEN_BATCHES_PER_TENANT_MAX as u64;
    let open_max = quotas.open_batches_max.map_or(most, |own| most.min(own.into()));
    let requests_max = quotas.requests_per_minute_max.map(u64::from);
    Ok(Json(TenantUsage {
        tenant: tenant.name,
        open_batches: Used { used: used.open_batches, max: Some(open_max) },
        requests_per_minute: Used { used: used.requests, max: requests_max },
        stored_bytes: Used {
            used: app.store.stored_bytes(tenant.id).await?,
            max: quotas.stored_bytes_max,
        },
        workers,
        days,
    }))
}
