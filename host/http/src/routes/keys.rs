//! `/v1/keys`: API keys, managed by administrators.

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod revoke;
pub(crate) mod rotate;

use assay_core::id::TenantId;

use crate::app::App;
use crate::extract::guard::{Admin, Scoped};
use crate::problem::ApiError;
use crate::routes::tenants;

async fn tenant(
    app: &App,
    caller: &Scoped<Admin>,
    name: Option<&str>,
) -> Result<(TenantId, String), ApiError> {
    let tenant = tenants::find(app, caller, name.unwrap_or(&caller.tenant_name)).await?;
    Ok((tenant.id, tenant.name))
}
