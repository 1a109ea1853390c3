//! `/v1/tenants`: created and changed by the platform's administrators; the administrators of a tenant may
//! read their own.

pub(crate) mod change;
pub(crate) mod create;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod usage;

use assay_api::key::Scope;
use assay_api::tenant::Tenant;
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::app::App;
use crate::extract::guard::{Admin, Scoped};
use crate::problem::ApiError;

/// Held while a tenant is created or changed, so that the stored settings are those in effect.
static CHANGING: Mutex<()> = Mutex::const_new(());

/// The tenant of that name: any for an administrator of the platform, otherwise the caller's own alone.
pub(crate) async fn find(
    app: &App,
    caller: &Scoped<Admin>,
    name: &str,
) -> Result<Tenant, ApiError> {
    if !caller.has(Scope::Platform) && *name != *caller.tenant_name {
        return Err(ApiError::not_found("tenant"));
    }
    Ok(app.store.tenant_by_name(name).await?)
}

/// The tenant with the storage roots that the operator's file grants to it.
fn shown(app: &App, mut tenant: Tenant) -> Tenant {
    let granted = app.roots.iter().filter(|root| root.is_granted(&tenant.name));
    tenant.storage_roots = granted.map(|root| root.name.clone()).collect();
    tenant
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TenantQuery {
    /// Name of the tenant; your own when absent.
    pub tenant: Option<String>,
}
