//! `POST /v1/tenants`: create a tenant.

use assay_api::tenant::{CreateTenant, Tenant};
use assay_core::limits;
use assay_core::plugin::check_name;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::{CHANGING, shown};
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Platform, Scoped};
use crate::finishing::to_end;
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;

/// Create a tenant.
#[utoipa::path(
    post, path = "/v1/tenants", tag = "tenants", request_body = CreateTenant,
    responses((status = 201, body = Tenant))
)]
pub(crate) async fn create(
    State(app): AppState,
    caller: Scoped<Platform>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<(StatusCode, Json<Tenant>), ApiError> {
    let CreateTenant { name, settings } = body::parse(&body)?;
    check_name("tenant", &name, limits::PLUGIN_NAME_BYTES_MAX)
        .map_err(|error| ApiError::bad_request(error).field("name"))?;
    settings.check().map_err(|error| {
        let field = format!("settings.{}", error.field);
        ApiError::from(error).field(field)
    })?;
    let actor = caller.actor();
    let created = to_end(async move {
        let _one = CHANGING.lock().await;
        if app.dispatch.tenants.count() >= limits::TENANTS_MAX {
            let detail = format!("there are {} tenants, which is the limit", limits::TENANTS_MAX);
            return Err(ApiError::conflict("too_many_tenants", detail));
        }
        let tenant = app.store.create_tenant(&name, &settings, &actor, now()).await?;
        app.dispatch.set_tenant(tenant.clone()).await?;
        Ok(shown(&app, tenant))
    });
    Ok((StatusCode::CREATED, Json(created.await?)))
}
