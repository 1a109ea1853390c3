//! `PATCH /v1/tenants/{name}`: change the settings of a tenant by a merge patch.

use assay_api::tenant::{Tenant, TenantSettings};
use assay_dispatch::now;
use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::{CHANGING, shown};
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Platform, Scoped};
use crate::finishing::to_end;
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;

/// Change a tenant's settings. The body is a JSON merge patch (RFC 7396): absent fields stay
/// unchanged, and null removes a quota. It takes effect at once.
#[utoipa::path(
    patch, path = "/v1/tenants/{name}", tag = "tenants", params(("name" = String, Path)),
    request_body = TenantSettings,
    responses((status = 200, body = Tenant))
)]
pub(crate) async fn change(
    State(app): AppState,
    caller: Scoped<Platform>,
    Path(name): Path<String>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<Json<Tenant>, ApiError> {
    let patch: Value = body::parse(&body)?;
    let actor = caller.actor();
    let changed = to_end(async move {
        let _one = CHANGING.lock().await;
        let before = app.store.tenant_by_name(&name).await?;
        let settings = patched(&before.settings, &patch)?;
        let tenant = app.store.set_tenant(&before, &settings, &actor, now()).await?;
        if settings.retention != before.settings.retention {
            app.retention_changed.notify_one();
        }
        app.dispatch.set_tenant(tenant.clone()).await?;
        Ok(shown(&app, tenant))
    });
    Ok(Json(changed.await?))
}

fn patched(settings: &TenantSettings, patch: &Value) -> Result<TenantSettings, ApiError> {
    if !patch.is_object() {
        return Err(ApiError::bad_request("the body must be an object"));
    }
    let mut merged = json!(settings);
    merge(&mut merged, patch);
    let settings: TenantSettings = serde_json::from_value(merged).map_err(|error| {
        ApiError::bad_request(format!("the body is not valid for this call: {error}"))
    })?;
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
        for (odd, says, field) in [
            (json!([]), "an object", None),
            (json!({ "wheight": 2 }), "wheight", None),
            (json!({ "quotas": { "workers": 2 } }), "workers", None),
            (json!({ "quotas": { "open_batches_max": -1 } }), "-1", None),
            (json!({ "weight": 0 }), "weight must be 1 to 1000", Some("weight")),
            (
                json!({ "retention": { "results_days": 0 } }),
                "results_days",
                Some("retention.results_days"),
            ),
            (
                json!({ "quotas": { "workers_max": { "gpu": u32::MAX } } }),
                "workers_max of pool `gpu`",
                Some("quotas.workers_max.gpu"),
            ),
            (
                json!({ "grants": { "toolchains": ["A B"] } }),
                "toolchain",
                Some("grants.toolchains"),
            ),
        ] {
            let refused = patch(&settings, odd.clone()).expect_err("not valid");
            assert!(refused.detail.contains(says), "{odd}: {refused:?}");
            assert_eq!(refused.field.as_deref(), field, "{odd}");
        }
    }
}
