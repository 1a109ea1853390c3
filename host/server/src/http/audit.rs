//! Administrative acts, for those who administer.

use assay_model::api::{Problem, Scope};
use assay_model::audit::{AuditActor, AuditFilter, AuditPage};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, tenants};

/// Administrative acts with what they changed, the latest first; with `admin:*` alone, those on your
/// own tenant.
#[utoipa::path(
    get, path = "/v1/audit", tag = "audit", params(AuditFilter),
    responses(
        (status = 200, body = AuditPage),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
    filter: Result<Query<AuditFilter>, QueryRejection>,
) -> Result<Json<AuditPage>, ApiError> {
    let Query(filter) = filter.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let own = (!caller.has(Scope::Platform)).then(|| caller.tenant_name.to_string());
    let tenant = match filter.tenant.clone().or(own) {
        Some(name) => Some(tenants::find(&app, &caller, &name).await?.id),
        None => None,
    };
    let mut page = app.store.audit(tenant, &filter).await?;
    if !caller.has(Scope::Platform) {
        page.items.iter_mut().for_each(|entry| hide_others(&caller, &mut entry.actor));
    }
    Ok(Json(page))
}

/// A tenant sees that the platform did something with it, and not by which of its keys.
fn hide_others(caller: &Caller, actor: &mut AuditActor) {
    if actor.tenant.as_deref().is_some_and(|tenant| *tenant != *caller.tenant_name) {
        *actor = AuditActor {
            kind: "platform".into(),
            id: None,
            name: "an administrator of the platform".into(),
            tenant: None,
        };
    }
}
