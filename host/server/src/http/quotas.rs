//! What stands between a tenant and an admission, before anything of it is admitted. The dispatcher
//! itself counts open batches and requests; here is the rest. What was admitted is never refused.

use assay_model::id::TenantId;
use axum::http::StatusCode;

use super::App;
use super::problem::ApiError;
use crate::dispatch::PluginInfo;
use crate::registry::check_grants;

/// Whether anything at all may come in.
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
    let detail = "the tenant is suspended: it admits nothing, and everything can be read";
    Err(ApiError::new(StatusCode::FORBIDDEN, "tenant_suspended", detail)
        .hint("ask the platform's administrators; `assay tenant set NAME --resume` lifts it"))
}

/// Whether the tenant was granted what the plugin asks for.
pub(super) fn granted(app: &App, tenant: TenantId, plugin: &PluginInfo) -> Result<(), ApiError> {
    Ok(check_grants(&plugin.imports, &app.dispatch.tenants.get(tenant).grants)?)
}
