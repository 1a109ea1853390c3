//! Tenants: made and changed by the platform's administrators; each tenant's own may look at it.

use assay_model::api::{CreateTenant, Problem, Scope, Tenant, TenantList};
use assay_model::limits;
use assay_model::plugin::check_name;
use assay_model::tenant::TenantSettings;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::auth::Caller;
use super::problem::ApiError;
use super::{App, AppState, body};
use crate::dispatch::now;

/// Held while a tenant is made or changed, so that what is stored last is what holds.
static CHANGING: Mutex<()> = Mutex::const_new(());

/// Every tenant; with `admin:*` alone, your own.
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
    let tenants = if caller.has(Scope::Platform) {
        app.store.tenants().await?
    } else {
        vec![find(&app, &caller, &caller.tenant_name).await?]
    };
    let items = tenants.into_iter().map(|tenant| shown(&app, tenant)).collect();
    Ok(Json(TenantList { items }))
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
    caller.need(Scope::Platform)?;
    let (CreateTenant { name, settings }, _) = body::json(body).await?;
    check_name("tenant", &name, limits::PLUGIN_NAME_BYTES_MAX).map_err(ApiError::bad_request)?;
    settings.check().map_err(ApiError::bad_request)?;
    let _one = CHANGING.lock().await;
    if app.dispatch.tenants.count() >= limits::TENANTS_MAX {
        let detail = format!("there are {} tenants, which is the limit", limits::TENANTS_MAX);
        return Err(ApiError::conflict("too_many_tenants", detail));
    }
    let tenant = app.store.create_tenant(&name, &settings, &caller.actor(), now()).await?;
    app.dispatch.set_tenant(tenant.clone()).await?;
    Ok((StatusCode::CREATED, Json(shown(&app, tenant))))
}

/// A tenant: what bounds it and what is granted to it.
#[utoipa::path(
    get, path = "/v1/tenants/{name}", tag = "tenants", params(("name" = String, Path)),
    responses(
        (status = 200, body = Tenant),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    State(app): AppState,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Tenant>, ApiError> {
    let tenant = find(&app, &caller, &name).await?;
    Ok(Json(shown(&app, tenant)))
}

/// Change a tenant's settings. The body is a JSON merge patch (RFC 7396) of them: what it does not
/// name stays, and null takes a bound away. It holds at once.
#[utoipa::path(
    patch, path = "/v1/tenants/{name}", tag = "tenants", params(("name" = String, Path)),
    request_body = TenantSettings,
    responses(
        (status = 200, body = Tenant),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn change(
    State(app): AppState,
    caller: Caller,
    Path(name): Path<String>,
    body: Body,
) -> Result<Json<Tenant>, ApiError> {
    caller.need(Scope::Platform)?;
    let (patch, _): (Value, _) = body::json(body).await?;
    let _one = CHANGING.lock().await;
    let before = app.store.tenant_by_name(&name).await?;
    let settings = patched(&before.settings, &patch).map_err(ApiError::bad_request)?;
    let tenant = app.store.set_tenant(&before, &settings, &caller.actor(), now()).await?;
    if settings.retention != before.settings.retention {
        app.retention_changed.notify_one();
    }
    app.dispatch.set_tenant(tenant.clone()).await?;
    Ok(Json(shown(&app, tenant)))
}

/// The tenant if the caller administers it.
pub(super) async fn find(app: &App, caller: &Caller, name: &str) -> Result<Tenant, ApiError> {
    caller.administers(name)?;
    Ok(app.store.tenant_by_name(name).await?)
}

/// With the storage roots that the operator's file grants it.
fn shown(app: &App, mut tenant: Tenant) -> Tenant {
    let granted = app.roots.iter().filter(|root| root.is_granted(&tenant.name));
    tenant.storage_roots = granted.map(|root| root.name.clone()).collect();
    tenant
}

fn patched(settings: &TenantSettings, patch: &Value) -> Result<TenantSettings, String> {
    if !patch.is_object() {
        return Err("the body must be an object".into());
    }
    let mut merged = json!(settings);
    merge(&mut merged, patch);
    let settings: TenantSettings = serde_json::from_value(merged)
        .map_err(|error| format!("the body is not what this call takes: {error}"))?;
    settings.check()?;
    Ok(settings)
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return *target = patch.clone() };
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key.as_str()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_changes_what_it_names_and_null_takes_a_bound_away() {
        let patch = |settings: &TenantSettings, patch: Value| patched(settings, &patch);
        let bounds = json!({
            "weight": 3,
            "quotas": { "workers_max": { "cpu": 4, "gpu": 1 }, "open_batches_max": 2 },
            "grants": { "toolchains": ["cpp17-gcc"] },
        });
        let settings = patch(&TenantSettings::default(), bounds).expect("valid");
        assert_eq!(settings.quotas.workers_max["cpu"], 4);
        let fewer = json!({
            "quotas": { "workers_max": { "gpu": null }, "open_batches_max": null },
            "grants": { "gpu": true, "toolchains": null },
            "weight": null,
        });
        let settings = patch(&settings, fewer).expect("valid");
        assert_eq!(settings.quotas.workers_max.len(), 1);
        assert_eq!((settings.weight, settings.quotas.open_batches_max), (1, None));
        assert_eq!((settings.grants.gpu, &settings.grants.toolchains), (true, &None));
        for (odd, says) in [
            (json!([]), "an object"),
            (json!({ "wheight": 2 }), "wheight"),
            (json!({ "quotas": { "workers": 2 } }), "workers"),
            (json!({ "quotas": { "open_batches_max": -1 } }), "-1"),
            (json!({ "weight": 0 }), "weight must be 1 to 1000"),
            (json!({ "retention": { "results_days": 0 } }), "results_days"),
            (json!({ "grants": { "toolchains": ["A B"] } }), "toolchain"),
        ] {
            let refused = patch(&settings, odd.clone()).expect_err("not valid");
            assert!(refused.contains(says), "{odd}: {refused}");
        }
    }
}
