//! The checks of every announcement of a batch, by `POST /v1/batches` or by a trainer's protocol: the plugin that is
//! named and that the run pins, its settings, and the tenant's quotas.

mod joining;
mod labels;

use std::sync::Arc;

use assay_api::batch::AnnounceBatch;
use assay_core::id::{BatchId, TenantId};
use assay_core::plugin::VersionName;
use assay_dispatch::{ReadyPlugin, now};
use assay_registry::Reference;
use assay_store::admissions::{BatchRow, Idempotency};
use assay_store::runs::RunRow;

use crate::app::App;
use crate::auth::Caller;
use crate::extract::body;
use crate::problem::ApiError;
use crate::quotas;

pub(crate) use joining::{JoinRequest, enter, join};
pub(crate) use labels::{EncodedSample, validate_labels};

/// The plugin that a caller names; another tenant's plugin is not found.
pub(crate) fn reference(caller: &Caller, text: &str) -> Result<Reference, ApiError> {
    let reference = Reference::parse(text).map_err(ApiError::bad_request)?;
    if reference.tenant.as_deref().is_some_and(|tenant| tenant != &*caller.tenant_name) {
        return Err(ApiError::not_found("plugin"));
    }
    caller.may_use(&reference)?;
    Ok(reference)
}

/// The row of a checked call, within the tenant's quotas, with the plugin that its run pinned.
pub(crate) async fn row(
    app: &App,
    caller: &Caller,
    call: AnnounceBatch,
    idempotency: Option<Idempotency>,
) -> Result<(BatchRow, Arc<ReadyPlugin>), ApiError> {
    quotas::admits(app, caller.tenant).await?;
    let settings = body::settings(call.settings.as_deref())?;
    let reference = reference(caller, &call.plugin)?;
    let (plugin, run) = pin(app, caller.tenant, &call, &reference, settings).await?;
    quotas::granted(app, caller.tenant, &plugin)?;
    let at = now();
    let row = BatchRow {
        tenant: caller.tenant,
        id: BatchId::generate_at(at),
        run: call.run,
        iteration: call.iteration,
        plugin: run.plugin,
        version: run.version,
        digest: run.digest,
        settings: run.settings,
        expected_size: call.expected_size,
        group_size: call.group_size,
        max_extra_delay_ms: call.max_extra_delay_ms,
        consumes: call.consumes.unwrap_or_default(),
        share_equal: call.share_equal.unwrap_or(true),
        idle_ms: None,
        idempotency,
        announced_at: at,
        sealed_at: None,
    };
    Ok((row, plugin))
}

/// The run's plugin and settings: pinned by its first batch.
async fn pin(
    app: &App,
    tenant: TenantId,
    call: &AnnounceBatch,
    reference: &Reference,
    settings: String,
) -> Result<(Arc<ReadyPlugin>, RunRow), ApiError> {
    let pinned = match app.store.run(tenant, &call.run).await? {
        Some(pinned) => pinned,
        None => {
            let plugin = app.registry.resolve(tenant, reference).await?;
            let validation = app.registry.validation(tenant, &plugin).await;
            validation.settings(tenant, &settings).await.map_err(ApiError::invalid_settings)?;
            let wanted = RunRow {
                plugin: plugin.description.name.clone(),
                version: plugin.description.version.clone(),
                digest: plugin.digest,
                settings: settings.clone(),
            };
            app.store.pin_run(tenant, &call.run, wanted, now()).await?
        }
    };
    let same_version = !reference.is_version() || reference.channel_or_version == pinned.version;
    if pinned.plugin != reference.name || !same_version {
        let name = VersionName { name: &pinned.plugin, version: &pinned.version };
        let detail = format!("run `{}` uses {name}", call.run);
        return Err(ApiError::conflict("run_pinned", detail)
            .hint("a run keeps the plugin of its first batch; start a new run for another"));
    }
    if call.settings.is_some() && !same_json(&pinned.settings, &settings) {
        let detail = format!("run `{}` began with other settings", call.run);
        return Err(ApiError::conflict("run_pinned", detail)
            .hint("a run keeps the settings of its first batch; start a new run for others"));
    }
    let plugin = app.registry.pinned(tenant, &pinned.plugin, &pinned.version).await?;
    Ok((plugin, pinned))
}

/// The plugin that a run has, or the one that its first batch would pin.
pub(crate) async fn plugin_of_run(
    app: &App,
    caller: &Caller,
    run: &str,
    plugin: &str,
) -> Result<Arc<ReadyPlugin>, ApiError> {
    let reference = reference(caller, plugin)?;
    match app.store.run(caller.tenant, run).await? {
        Some(pinned) if pinned.plugin == reference.name => {
            let RunRow { plugin, version, .. } = pinned;
            Ok(app.registry.pinned(caller.tenant, &plugin, &version).await?)
        }
        // The announcement says what is wrong with the run's plugin.
        _ => Ok(app.registry.resolve(caller.tenant, &reference).await?),
    }
}

fn same_json(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<serde_json::Value>(text);
    // A text that is too deep or too large to parse is equal to the same text alone.
    one == other || matches!((read(one), read(other)), (Ok(one), Ok(other)) if one == other)
}
