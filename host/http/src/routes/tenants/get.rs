//! `GET /v1/tenants/{name}`: the quotas and grants of a tenant.

use assay_api::tenant::Tenant;
use axum::Json;
use axum::extract::{Path, State};

use super::{find, shown};
use crate::app::AppState;
use crate::extract::guard::{Admin, Scoped};
use crate::problem::ApiError;

/// A tenant with its quotas, grants and retention.
#[utoipa::path(
    get, path = "/v1/tenants/{name}", tag = "tenants", params(("name" = String, Path)),
    responses((status = 200, body = Tenant))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<Admin>,
    Path(name): Path<String>,
) -> Result<Json<Tenant>, ApiError> {
    let tenant = find(&app, &caller, &name).await?;
    Ok(Json(shown(&app, tenant)))
}
