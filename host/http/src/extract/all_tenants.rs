//! The query parameter `all`: the batches of every tenant instead of the caller's own.

use assay_api::key::Scope;
use assay_core::id::TenantId;
use serde::Deserialize;

use crate::auth::Caller;
use crate::problem::ApiError;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllTenantsQuery {
    /// Whether all tenants are included; needs the scope `platform:*`.
    #[serde(default)]
    #[param(required = false)]
    pub(crate) all: bool,
}

impl AllTenantsQuery {
    /// The tenant whose batches are returned; `None` is all tenants, for the platform's
    /// administrators.
    pub(crate) fn tenant(&self, caller: &Caller) -> Result<Option<TenantId>, ApiError> {
        if !self.all {
            return Ok(Some(caller.tenant));
        }
        caller.need(Scope::Platform)?;
        Ok(None)
    }
}
