//! Checks before a tenant's batch, request or plugin is admitted: suspension, grants, the quota of stored bytes and the
//! admission budget.
//! The dispatcher checks the numbers of open batches and requests. Nothing that was admitted is refused
//! later.

use std::future::Future;
use std::time::Duration;

use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::ReadyPlugin;
use assay_dispatch::budget::BudgetPermit;
use assay_dispatch::fair_semaphore::FairPermit;
use assay_registry::check_grants;
use axum::http::StatusCode;
use tokio::time::Instant;

use crate::app::App;
use crate::problem::ApiError;

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

/// Whether the tenant may publish another version now.
pub(super) async fn publishes(app: &App, tenant: TenantId) -> Result<(), ApiError> {
    admits(app, tenant).await?;
    let (versions, max) = (app.store.count_versions(tenant).await?, limits::PLUGIN_VERSIONS_MAX);
    if versions < max {
        return Ok(());
    }
    let detail = format!("your tenant has {versions} versions of plugins, and {max} are the most");
    Err(ApiError::quota_exceeded(detail)
        .hint("versions are kept for ever: publish what is new in another tenant"))
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

/// The time for which a call may wait for the admission budget, all its waits together: room that becomes free
/// request by request must not hold a call of many requests for hours.
pub(super) struct QueueWait {
    left: Duration,
}

impl QueueWait {
    pub(super) fn of_call() -> Self {
        Self { left: Duration::from_secs(limits::ADMISSION_SECONDS_MAX) }
    }

    /// Waits for a permit of the admission budget.
    pub(super) async fn budget(
        &mut self,
        app: &App,
        tenant: TenantId,
        bytes: usize,
    ) -> Result<BudgetPermit, ApiError> {
        let budget = &app.dispatch.budget;
        let place = self.wait(budget.acquire(tenant, bytes)).await;
        place.ok_or_else(|| no_room(budget.held_bytes(tenant), budget.free_bytes()))
    }

    async fn wait<T>(&mut self, place: impl Future<Output = T>) -> Option<T> {
        let start = Instant::now();
        let place = tokio::time::timeout(self.left, place).await.ok();
        self.left = self.left.saturating_sub(start.elapsed());
        place
    }
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

    #[tokio::test]
    async fn the_waits_of_a_call_are_counted_together() {
        let nap = Duration::from_millis(20);
        let mut wait = QueueWait::of_call();
        let whole = wait.left;
        for naps in 1..3 {
            // The nap begins with the wait.
            let napped = wait.wait(async { tokio::time::sleep(nap).await });
            assert!(napped.await.is_some());
            assert!(wait.left <= whole - naps * nap);
        }
        wait.left = nap;
        assert!(wait.wait(std::future::pending::<()>()).await.is_none());
        assert_eq!(wait.left, Duration::ZERO);
        // Room that is free now is taken without a wait.
        assert!(wait.wait(std::future::ready(())).await.is_some());
    }

    #[test]
    fn a_full_budget_is_the_fault_of_the_tenant_that_fills_it() {
        let own = no_room(3 << 30, 1 << 30);
        assert_eq!((own.status, own.code), (StatusCode::TOO_MANY_REQUESTS, "too_many_bytes"));
        assert!(own.detail.contains("3221225472 bytes of your tenant's requests"));
        let others = no_room(4 << 10, 512 << 20);
        assert_eq!((others.status, others.code), (StatusCode::SERVICE_UNAVAILABLE, "no_room"));
    }
}
