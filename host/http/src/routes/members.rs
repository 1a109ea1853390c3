//! `/v1/members`: the members of a tenant, for its administrators.

pub(crate) mod add;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod set_role;

use assay_api::key::Scope;
use assay_api::people::PLATFORM_TENANT;
use assay_core::id::TenantId;

use crate::app::App;
use crate::extract::guard::{Admin, Scoped};
use crate::problem::ApiError;
use crate::routes::tenants;

/// The tenant whose members are changed. Members of the platform's own tenant may administer all
/// tenants, so that `admin:*` alone is not enough to change them.
async fn managed(
    app: &App,
    caller: &Scoped<Admin>,
    name: Option<&str>,
) -> Result<TenantId, ApiError> {
    let name = name.unwrap_or(&caller.tenant_name);
    let tenant = tenants::find(app, caller, name).await?;
    if tenant.name == PLATFORM_TENANT {
        caller.need(Scope::Platform)?;
    }
    Ok(tenant.id)
}
