//! `GET /v1/audit`: administrative actions, for those who administer.

use assay_api::audit::{AuditFilter, AuditPage};
use assay_api::key::Scope;
use assay_store::audit::AuditReader;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::tenants;

/// Administrative actions with their changes, the latest first. With `admin:*` alone, only those on
/// your own tenant are returned.
#[utoipa::path(
    get, path = "/v1/audit", tag = "audit", params(AuditFilter),
    responses((status = 200, body = AuditPage))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<Admin>,
    Query(filter): Query<AuditFilter>,
) -> Result<Json<AuditPage>, ApiError> {
    let own = (!caller.has(Scope::Platform)).then(|| caller.tenant_name.to_string());
    let tenant = match filter.tenant.clone().or(own) {
        Some(name) => Some(tenants::find(&app, &caller, &name).await?.id),
        None => None,
    };
    let reader =
        if caller.has(Scope::Platform) { AuditReader::Platform } else { AuditReader::Tenant };
    Ok(Json(app.store.audit(tenant, reader, &filter).await?))
}
