//! `GET /v1/audit`: administrative actions, for those who administer.

use assay_api::audit::{AuditActor, AuditFilter, AuditPage};
use assay_api::key::Scope;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::auth::Caller;
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
    let mut page = app.store.audit(tenant, &filter).await?;
    if !caller.has(Scope::Platform) {
        // An act that is found by its actor would tell who that is.
        page.items.retain(|entry| filter.actor.is_none() || !is_of_others(&caller, &entry.actor));
        page.items.iter_mut().for_each(|entry| hide_others(&caller, &mut entry.actor));
    }
    Ok(Json(page))
}

fn is_of_others(caller: &Caller, actor: &AuditActor) -> bool {
    actor.tenant.as_deref().is_some_and(|tenant| *tenant != *caller.tenant_name)
}

/// A tenant sees that the platform acted, but not with which of the platform's keys.
fn hide_others(caller: &Caller, actor: &mut AuditActor) {
    if is_of_others(caller, actor) {
        *actor = AuditActor {
            kind: "platform".into(),
            id: None,
            name: "an administrator of the platform".into(),
            tenant: None,
        };
    }
}
