//! What a tenant uses of its quotas now, and what it used by day and pool.

use std::collections::BTreeMap;

use assay_model::api::Problem;
use assay_model::limits;
use assay_model::tenant::{TenantUsage, Used};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, tenants};
use crate::dispatch::now;
use crate::retention::days;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct UsageQuery {
    /// Today and so many days before it, less one; 30 when absent, 400 at most.
    days: Option<u32>,
}

/// What a tenant uses now, beside its quotas, and what it cost by pool and day (UTC). Batches count
/// on the day on which they end.
#[utoipa::path(
    get, path = "/v1/tenants/{name}/usage", tag = "tenants",
    params(("name" = String, Path), UsageQuery),
    responses(
        (status = 200, body = TenantUsage),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    State(app): AppState,
    caller: Caller,
    Path(name): Path<String>,
    query: Result<Query<UsageQuery>, QueryRejection>,
) -> Result<Json<TenantUsage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let tenant = tenants::find(&app, &caller, &name).await?;
    let asked = query.days.unwrap_or(limits::USAGE_DAYS_DEFAULT).clamp(1, limits::USAGE_DAYS_MAX);
    let days = app.store.usage(tenant.id, now().since(days(asked - 1))).await?;
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
