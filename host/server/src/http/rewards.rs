//! One request, its outcome in the response: the five-minute start.

use std::sync::Arc;
use std::time::Duration;

use assay_model::api::{Problem, ResultItem, Reward, RewardRequest, Scope};
use assay_model::id::{BatchId, RequestId, TenantId};
use assay_model::limits;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};

use super::auth::Caller;
use super::problem::ApiError;
use super::{App, AppState, batches, body, quotas, submit};
use crate::dispatch::board::Published;
use crate::dispatch::room::Place;
use crate::dispatch::{Announcement, NewItem, PluginInfo, now};
use crate::store::admissions::BatchRow;

pub(super) const WAIT_DEFAULT: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(limits::ADMISSION_SECONDS_MAX);
/// The run that lone requests are counted under.
const RUN: &str = "lone";

/// Score one request and wait for its outcome.
#[utoipa::path(
    post, path = "/v1/rewards", tag = "rewards", request_body = RewardRequest,
    params(("Prefer" = Option<String>, Header, description = "`wait=60`: wait at most this many seconds; 60 when absent, 300 at most")),
    responses(
        (status = 200, body = Reward),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn reward(
    State(app): AppState,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Reward>, ApiError> {
    caller.need(Scope::BatchesWrite)?;
    let bytes = body::whole(body, "the body", limits::ITEM_BYTES_MAX).await?;
    let published = admit(&app, &caller, body::parse(&bytes)?).await?;
    let wait = batches::wait(&headers).unwrap_or(WAIT_DEFAULT);
    let item = outcome(&published, wait).await?;
    let plugin_digest = published.row.digest;
    let ResultItem { id, outcome, stages, shared_from, .. } = item;
    Ok(Json(Reward { id, plugin_digest, outcome, stages, shared_from }))
}

/// Makes a batch of one.
async fn admit(
    app: &App,
    caller: &Caller,
    call: RewardRequest,
) -> Result<Arc<Published>, ApiError> {
    let RewardRequest { plugin, prompt, response, label, metadata, settings, share_equal } = call;
    quotas::admits(app, caller.tenant).await?;
    let settings = body::settings(settings.as_deref())?;
    let reference = batches::reference(caller, &plugin)?;
    let plugin = app.registry.resolve(caller.tenant, &reference).await?;
    quotas::granted(app, caller.tenant, &plugin)?;
    submit::check_fields(&prompt, &response, label.as_deref(), metadata.as_deref())
        .map_err(ApiError::bad_request)?;
    let body = submit::encode(prompt, response, label, metadata);
    let place = place(app, body.len()).await?;
    let share_equal = share_equal.unwrap_or(true);
    let row = BatchRow { share_equal, ..lone_batch(caller.tenant, &plugin, settings) };
    let lone = Some(NewItem { key: "0".into(), group: None, body: body.into(), place, due: None });
    Ok(app.dispatch.announce(Announcement { row, plugin, lone, replays: None }).await?)
}

/// A batch for one request alone.
pub(super) fn lone_batch(tenant: TenantId, plugin: &PluginInfo, settings: String) -> BatchRow {
    let at = now();
    BatchRow {
        tenant,
        id: BatchId::generate(),
        run: RUN.into(),
        iteration: 0,
        plugin: plugin.description.name.clone(),
        version: plugin.description.version.clone(),
        digest: plugin.digest,
        settings,
        expected_size: Some(1),
        group_size: None,
        max_extra_delay_ms: None,
        share_equal: false,
        idempotency: None,
        announced_at: at,
        sealed_at: Some(at),
    }
}

/// Waits for room for a request.
pub(super) async fn place(app: &App, bytes: usize) -> Result<Place, ApiError> {
    tokio::time::timeout(PATIENCE, app.dispatch.room.enter(bytes))
        .await
        .map_err(|_| ApiError::unavailable("no_room", "too many requests wait already"))
}

/// Waits for the one result.
pub(super) async fn outcome(published: &Published, wait: Duration) -> Result<ResultItem, ApiError> {
    let ended = published.wait_until(|standing| !standing.results.is_empty());
    if tokio::time::timeout(wait, ended).await.is_err() {
        // Its id may be told only once the request cannot get lost any more.
        let written = published.wait_until(|standing| standing.counts.submitted > 0);
        tokio::time::timeout(PATIENCE, written).await.map_err(|_| too_long())?;
        return Err(not_finished(RequestId { batch: published.row.id, seq: 0 }, wait));
    }
    let result = published.look(|standing| standing.results.first().cloned());
    result
        .and_then(|json| serde_json::from_slice(&json).ok())
        .ok_or_else(|| ApiError::unavailable("stopping", "the server is stopping"))
}

fn too_long() -> ApiError {
    ApiError::unavailable("database_unavailable", "the database takes too long")
}

fn not_finished(id: RequestId, wait: Duration) -> ApiError {
    let detail = format!("request {id} has not ended after {} s; it goes on", wait.as_secs());
    ApiError::new(StatusCode::GATEWAY_TIMEOUT, "not_finished", detail)
        .hint(format!("GET /v1/requests/{id} has its outcome later"))
}
