//! Tenants: for the platform's administrators.

use assay_model::api::{CreateTenant, Problem, Scope, Tenant, TenantList};
use assay_model::limits;
use assay_model::plugin::check_name;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, body};
use crate::dispatch::now;

/// Every tenant.
#[utoipa::path(
    get, path = "/v1/tenants", tag = "tenants",
    responses(
        (status = 200, body = TenantList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
) -> Result<Json<TenantList>, ApiError> {
    caller.need(Scope::Admin)?;
    Ok(Json(TenantList { items: app.store.tenants().await? }))
}

/// Make a tenant.
#[utoipa::path(
    post, path = "/v1/tenants", tag = "tenants", request_body = CreateTenant,
    responses(
        (status = 201, body = Tenant),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn create(
    State(app): AppState,
    caller: Caller,
    body: Body,
) -> Result<(StatusCode, Json<Tenant>), ApiError> {
    caller.need(Scope::Admin)?;
    let (call, _): (CreateTenant, _) = body::json(body).await?;
    check_name("tenant", &call.name, limits::PLUGIN_NAME_BYTES_MAX)
        .map_err(ApiError::bad_request)?;
    Ok((StatusCode::CREATED, Json(app.store.create_tenant(&call.name, now()).await?)))
}
