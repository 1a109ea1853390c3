//! Batches: announce, look, seal, cancel.

use std::sync::Arc;
use std::time::Duration;

use assay_model::api::{AnnounceBatch, Batch, Problem, Scope, SealBatch};
use assay_model::id::{BatchId, TenantId};
use assay_model::limits;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, body, quotas};
use crate::dispatch::board::Published;
use crate::dispatch::{Announcement, DispatchError, PluginInfo, now};
use crate::registry::Reference;
use crate::store::admissions::{BatchRow, Idempotency};
use crate::store::runs::RunRow;

/// How long a cancelled batch may take to end before the answer comes without it.
const CANCEL_WAIT: Duration = Duration::from_secs(10);
/// A commit takes milliseconds; these are two seconds.
const TWIN_LOOKS_MAX: u32 = 100;
const TWIN_LOOK_PERIOD: Duration = Duration::from_millis(20);

/// Announce a batch: the rollout has started, requests will come.
#[utoipa::path(
    post, path = "/v1/batches", tag = "batches", request_body = AnnounceBatch,
    params(("Idempotency-Key" = Option<String>, Header, description = "A repeat of the call under the same key gets the same batch")),
    responses(
        (status = 201, body = Batch),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn announce(
    State(app): AppState,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Batch>), ApiError> {
    caller.need(Scope::BatchesWrite)?;
    let (call, bytes): (AnnounceBatch, _) = body::json(body).await?;
    check(&call)?;
    let idempotency = idempotency(&headers, &bytes)?;
    if let Some(batch) = repeated(&app, caller.tenant, idempotency.as_ref()).await? {
        return Ok((StatusCode::CREATED, Json(batch)));
    }
    let (row, plugin) = row(&app, &caller, call, idempotency).await?;
    let twin = row.idempotency.clone();
    // Once more: since the first look another call under the key may have come and gone.
    if let Some(batch) = repeated(&app, caller.tenant, twin.as_ref()).await? {
        return Ok((StatusCode::CREATED, Json(batch)));
    }
    let announcement = Announcement { row, plugin, lone: None, replays: None };
    let batch = match app.dispatch.announce(announcement).await {
        Ok(published) => published.batch(),
        Err(DispatchError::KeyInUse) => of_twin(&app, caller.tenant, twin.as_ref()).await?,
        Err(error) => return Err(error.into()),
    };
    Ok((StatusCode::CREATED, Json(batch)))
}

/// What a checked call asks for, within the tenant's quotas, with the plugin that its run pinned.
pub(super) async fn row(
    app: &super::App,
    caller: &Caller,
    call: AnnounceBatch,
    idempotency: Option<Idempotency>,
) -> Result<(BatchRow, Arc<PluginInfo>), ApiError> {
    quotas::admits(app, caller.tenant).await?;
    let settings = body::settings(call.settings.as_deref())?;
    let reference = reference(caller, &call.plugin)?;
    let (plugin, run) = pin(app, caller.tenant, &call, &reference, settings).await?;
    quotas::granted(app, caller.tenant, &plugin)?;
    let row = BatchRow {
        tenant: caller.tenant,
        id: BatchId::generate(),
        run: call.run,
        iteration: call.iteration,
        plugin: run.plugin,
        version: run.version,
        digest: run.digest,
        settings: run.settings,
        expected_size: call.expected_size,
        group_size: call.group_size,
        max_extra_delay_ms: call.max_extra_delay_ms,
        share_equal: call.share_equal.unwrap_or(true),
        idempotency,
        announced_at: now(),
        sealed_at: None,
    };
    Ok((row, plugin))
}

fn check(call: &AnnounceBatch) -> Result<(), ApiError> {
    body::check_text("run", &call.run, limits::RUN_BYTES_MAX).map_err(ApiError::bad_request)?;
    if i64::try_from(call.iteration).is_err() {
        return Err(ApiError::bad_request("iteration is too large"));
    }
    let max = limits::BATCH_REQUESTS_MAX;
    for (what, value) in [("expected_size", call.expected_size), ("group_size", call.group_size)] {
        if let Some(value) = value.filter(|value| !(1..=max).contains(value)) {
            return Err(ApiError::bad_request(format!("{what} must be 1 to {max}, not {value}"))
                .hint("cut a larger iteration into several batches"));
        }
    }
    if call.max_extra_delay_ms.is_some_and(|delay| i32::try_from(delay).is_err()) {
        return Err(ApiError::bad_request("max_extra_delay_ms is too large"));
    }
    Ok(())
}

/// The plugin that a caller names; another tenant's is not there.
pub(super) fn reference(caller: &Caller, text: &str) -> Result<Reference, ApiError> {
    let reference = Reference::parse(text).map_err(ApiError::bad_request)?;
    if reference.tenant.as_deref().is_some_and(|tenant| tenant != &*caller.tenant_name) {
        return Err(ApiError::not_found("plugin"));
    }
    caller.may_use(&reference)?;
    Ok(reference)
}

fn idempotency(headers: &HeaderMap, bytes: &[u8]) -> Result<Option<Idempotency>, ApiError> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let max = limits::IDEMPOTENCY_KEY_BYTES_MAX;
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= max);
    let key = key.ok_or_else(|| {
        ApiError::bad_request(format!(
            "Idempotency-Key must be 1 to {max} visible ASCII characters"
        ))
    })?;
    Ok(Some(Idempotency { key: key.into(), call_hash: crate::blob::digest(bytes) }))
}

/// The batch that an earlier call under the same key made.
async fn repeated(
    app: &super::App,
    tenant: TenantId,
    idempotency: Option<&Idempotency>,
) -> Result<Option<Batch>, ApiError> {
    let Some(idempotency) = idempotency else { return Ok(None) };
    let Some((id, call_hash)) =
        app.store.batch_by_idempotency_key(tenant, &idempotency.key).await?
    else {
        return Ok(None);
    };
    if call_hash != idempotency.call_hash {
        return Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "another call was made under this Idempotency-Key",
        ));
    }
    find(app, tenant, id).await.map(Some)
}

/// The batch of the same call that came a moment before and is about to be committed.
async fn of_twin(
    app: &super::App,
    tenant: TenantId,
    idempotency: Option<&Idempotency>,
) -> Result<Batch, ApiError> {
    for _ in 0..TWIN_LOOKS_MAX {
        if let Some(batch) = repeated(app, tenant, idempotency).await? {
            return Ok(batch);
        }
        tokio::time::sleep(TWIN_LOOK_PERIOD).await;
    }
    Err(DispatchError::KeyInUse.into())
}

/// The run's plugin and settings: pinned by its first batch.
async fn pin(
    app: &super::App,
    tenant: TenantId,
    call: &AnnounceBatch,
    reference: &Reference,
    settings: String,
) -> Result<(Arc<PluginInfo>, RunRow), ApiError> {
    let pinned = match app.store.run(tenant, &call.run).await? {
        Some(pinned) => pinned,
        None => {
            let plugin = app.registry.resolve(tenant, reference).await?;
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
        let detail = format!("run `{}` uses {}@{}", call.run, pinned.plugin, pinned.version);
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

fn same_json(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<serde_json::Value>(text);
    // What is too deep or too large to be read is only equal to itself.
    one == other || matches!((read(one), read(other)), (Ok(one), Ok(other)) if one == other)
}

/// Another tenant's batch, and what is no batch id, are not there.
pub(super) fn batch_id(text: &str) -> Result<BatchId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("batch"))
}

/// Refuses what is read of a batch whose requests and results are kept no longer.
pub(super) async fn kept(app: &super::App, tenant: TenantId, id: BatchId) -> Result<(), ApiError> {
    let expired_at = app.store.expired_at(tenant, id).await?;
    expired_at.map_or(Ok(()), |at| Err(ApiError::gone(at)))
}

/// A batch wherever it is.
pub(super) async fn find(
    app: &super::App,
    tenant: TenantId,
    id: BatchId,
) -> Result<Batch, ApiError> {
    match app.dispatch.board.get(tenant, id) {
        Some(published) => Ok(published.batch()),
        None => Ok(app.store.batch(tenant, id).await?),
    }
}

/// The seconds of `Prefer: wait=N`, within the limit.
pub(super) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let prefer = headers.get("prefer")?.to_str().ok()?;
    let seconds = prefer.split([',', ';']).find_map(|part| part.trim().strip_prefix("wait="))?;
    Some(Duration::from_secs(seconds.parse::<u64>().ok()?.min(limits::LONG_POLL_SECONDS_MAX)))
}

/// A batch as it stands; with `Prefer: wait=N` once it has ended, or after N seconds.
#[utoipa::path(
    get, path = "/v1/batches/{id}", tag = "batches",
    params(("id" = String, Path), ("Prefer" = Option<String>, Header, description = "`wait=60`: answer when the batch has ended, at most 300 s later")),
    responses(
        (status = 200, body = Batch),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    State(app): AppState,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<Batch>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let id = batch_id(&id)?;
    if let (Some(wait), Some(published)) =
        (wait(&headers), app.dispatch.board.get(caller.tenant, id))
    {
        until_ended(&published, wait).await;
        return Ok(Json(published.batch()));
    }
    find(&app, caller.tenant, id).await.map(Json)
}

async fn until_ended(published: &Published, wait: Duration) {
    let ended = published.wait_until(|standing| standing.state.is_final());
    // What is there after the wait is the answer either way.
    let _ = tokio::time::timeout(wait, ended).await;
}

/// Seal a batch: no more requests will come.
#[utoipa::path(
    post, path = "/v1/batches/{id}/seal", tag = "batches", request_body = Option<SealBatch>,
    params(("id" = String, Path)),
    responses(
        (status = 200, body = Batch),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn seal(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
    body: Body,
) -> Result<Json<Batch>, ApiError> {
    caller.need(Scope::BatchesWrite)?;
    let id = batch_id(&id)?;
    let bytes = body::whole(body, "the body", limits::SMALL_BODY_BYTES_MAX).await?;
    let call: SealBatch =
        if bytes.is_empty() { SealBatch::default() } else { body::parse(&bytes)? };
    match app.dispatch.seal(caller.tenant, id, call.final_count).await {
        Ok(()) => find(&app, caller.tenant, id).await.map(Json),
        // Sealing what has ended in the meantime is a harmless repeat.
        Err(DispatchError::NotLive) => {
            let batch = find(&app, caller.tenant, id).await?;
            let have = batch.counts.submitted;
            match call.final_count.filter(|&want| want != have) {
                Some(want) => Err(DispatchError::CountDiffers { have, want }.into()),
                None => Ok(Json(batch)),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Cancel a batch: what has not ended ends as an error, never as a number.
#[utoipa::path(
    post, path = "/v1/batches/{id}/cancel", tag = "batches", params(("id" = String, Path)),
    responses(
        (status = 200, body = Batch),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn cancel(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Batch>, ApiError> {
    caller.need(Scope::BatchesWrite)?;
    let id = batch_id(&id)?;
    let published = app.dispatch.board.get(caller.tenant, id);
    match app.dispatch.cancel(caller.tenant, id).await {
        Ok(()) | Err(DispatchError::NotLive) => {}
        Err(error) => return Err(error.into()),
    }
    match published {
        Some(published) => {
            until_ended(&published, CANCEL_WAIT).await;
            Ok(Json(published.batch()))
        }
        None => find(&app, caller.tenant, id).await.map(Json),
    }
}
