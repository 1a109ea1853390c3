//! Checks before a tenant's batch or request is admitted: suspension, grants and the quota of stored bytes.
//! The dispatcher checks the numbers of open batches and requests. Nothing that was admitted is refused
//! later.

use assay_core::id::TenantId;
use assay_dispatch::ReadyPlugin;
use assay_registry::check_grants;
use axum::http::StatusCode;

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
