//! Checks before a tenant's batch or request is admitted: suspension, grants, the quota of stored bytes and the
//! admission budget.
//! The dispatcher checks the numbers of open batches and requests. Nothing that was admitted is refused
//! later.

use std::time::Duration;

use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::ReadyPlugin;
use assay_dispatch::budget::BudgetPermit;
use assay_dispatch::fair_semaphore::FairPermit;
use assay_registry::check_grants;
use axum::http::StatusCode;

use crate::app::App;
use crate::problem::ApiError;

const PATIENCE: Duration = Duration::from_secs(limits::ADMISSION_SECONDS_MAX);

/// Whether the tenant may admit anything now.
pub(super) async fn admits(app: &App, tenant: TenantId) -> Result<(), ApiError> {
    not_suspended(app, tenant)?;
    let Some(max) = app.dispatch.tenants.get(tenant).quotas.stored_bytes_max else {
        return Ok(());
    };
    let used = app.store.stored_bytes(tenant).await?;
    if used < max {
        return Ok(());
    }
    let detail = format!("the quota stored_bytes_max is {max}, and {used} bytes are stored");
    Err(ApiError::quota_exceeded(detail).hint(
        "ask the platform's administrators for more, or for a shorter retention \
         (`assay tenant set`)",
    ))
}

/// The place of a call that waits for the end of a batch, or follows it.
pub(super) fn long_call(app: &App, tenant: TenantId) -> Result<FairPermit, ApiError> {
    app.long_calls.try_acquire(tenant, 1).ok_or_else(|| {
        let own = app.long_calls.held(tenant);
        let detail = format!("{own} calls of your tenant wait for batches or follow them already");
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_wait", detail).hint(
            "one call that follows a batch is enough for all of its requests: end others first",
        )
    })
}

pub(super) fn not_suspended(app: &App, tenant: TenantId) -> Result<(), ApiError> {
    if !app.dispatch.tenants.get(tenant).suspended {
        return Ok(());
    }
    let detail = "the tenant is suspended: nothing new is admitted, but everything can be read";
    Err(ApiError::new(StatusCode::FORBIDDEN, "tenant_suspended", detail)
        .hint("ask the platform's administrators; `assay tenant set NAME --resume` lifts it"))
}

/// Whether the tenant was granted what the plugin asks for.
pub(super) fn granted(app: &App, tenant: TenantId, plugin: &ReadyPlugin) -> Result<(), ApiError> {
    Ok(check_grants(&plugin.imports, &app.dispatch.tenants.get(tenant).grants)?)
}

/// Waits for a permit of the admission budget.
pub(super) async fn budget(
    app: &App,
    tenant: TenantId,
    bytes: usize,
) -> Result<BudgetPermit, ApiError> {
    let budget = &app.dispatch.budget;
    tokio::time::timeout(PATIENCE, budget.acquire(tenant, bytes))
        .await
        .map_err(|_| no_room(budget.held_bytes(tenant), budget.free_bytes()))
}

/// The error of a full budget: 429 if the tenant's own requests fill it, 503 if those of all tenants do.
fn no_room(own_bytes: usize, free_bytes: usize) -> ApiError {
    if own_bytes <= free_bytes {
        let detail = format!("{} bytes of requests wait already", limits::LIVE_BYTES_MAX);
        return ApiError::unavailable("no_room", detail);
    }
    let detail = format!(
        "{own_bytes} bytes of your tenant's requests wait already, and the {free_bytes} bytes that \
         are free are kept for other tenants"
    );
    let mut error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_bytes", detail);
    error.retry_after_s = Some(limits::ADMISSION_SECONDS_MAX);
    error.hint("wait for results before you submit more, or cancel batches; then send it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_budget_is_the_fault_of_the_tenant_that_fills_it() {
        let own = no_room(3 << 30, 1 << 30);
        assert_eq!((own.status, own.code), (StatusCode::TOO_MANY_REQUESTS, "too_many_bytes"));
        assert!(own.detail.contains("3221225472 bytes of your tenant's requests"));
        let others = no_room(4 << 10, 512 << 20);
        assert_eq!((others.status, others.code), (StatusCode::SERVICE_UNAVAILABLE, "no_room"));
    }
}
