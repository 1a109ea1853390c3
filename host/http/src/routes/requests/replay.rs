//! `POST /v1/requests/{id}/replay`: a request that has ended runs again, and the outcomes are compared.

use std::sync::Arc;

use assay_api::batch::Batch;
use assay_api::request::{Replay, ReplayRequest, ReplaySide};
use assay_api::result::ResultItem;
use assay_core::id::{Digest, RequestId};
use assay_core::plugin::VersionName;
use assay_dispatch::{Announcement, NewItem, ReadyPlugin};
use assay_registry::Reference;
use assay_store::StoreError;
use assay_store::requests::StoredRequest;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;

use crate::app::{App, AppState};
use crate::auth::Caller;
use crate::extract::body;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use crate::quotas::{self, QueueWait};
use crate::routes::{batches, rewards};

/// Run a request again with the same body, settings and seed, by its own version of the plugin or
/// by another one, and compare the outcomes. The replay counts towards quotas and usage.
#[utoipa::path(
    post, path = "/v1/requests/{id}/replay", tag = "requests", request_body = Option<ReplayRequest>,
    params(
        ("id" = String, Path),
        ("Prefer" = Option<String>, Header, description = "Seconds to wait for the outcome, as `wait=60`: 60 when absent, 300 at most"),
    ),
    responses((status = 200, body = Replay))
)]
pub(crate) async fn replay(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    headers: HeaderMap,
    PathId(id): PathId<RequestId>,
    body: Body,
) -> Result<Json<Replay>, ApiError> {
    let call: ReplayRequest = body::json_or_default(body).await?;
    let (batch, stored, recorded) = recorded(&app, &caller, id).await?;
    quotas::admits(&app, caller.tenant).await?;
    let plugin = plugin(&app, &caller, &batch, call.version.as_deref()).await?;
    quotas::granted(&app, caller.tenant, &plugin)?;
    let digest = plugin.digest;
    let name = plugin.description.version_name().to_string();
    let announcement = announcement(&app, &caller, (id, stored), plugin).await?;
    let committed = app.dispatch.announce(announcement).await?;
    let wait = batches::wait(&headers).unwrap_or(rewards::WAIT_DEFAULT);
    let replayed = rewards::outcome(&committed, wait).await?;
    let differences = recorded.outcome.differences(&replayed.outcome);
    let differences: Vec<_> = differences.into_iter().map(str::to_owned).collect();
    Ok(Json(Replay {
        request: id,
        agrees: differences.is_empty(),
        differences,
        recorded: side(recorded, batch.plugin, batch.plugin_digest),
        replayed: side(replayed, name, digest),
    }))
}

fn side(result: ResultItem, plugin: String, plugin_digest: Digest) -> ReplaySide {
    let ResultItem { id, outcome, stages, .. } = result;
    ReplaySide { id, plugin, plugin_digest, outcome, stages }
}

/// The stored request and its result; an error if it has not ended.
async fn recorded(
    app: &App,
    caller: &Caller,
    id: RequestId,
) -> Result<(Batch, StoredRequest, ResultItem), ApiError> {
    batches::kept(app, caller.tenant, id.batch).await?;
    let stored = match app.store.request(caller.tenant, id).await {
        Err(StoreError::NotFound(what)) => return Err(ApiError::not_found(what)),
        stored => stored?,
    };
    let batch = batches::find(app, caller.tenant, id.batch).await?;
    let result = app.store.result(caller.tenant, id).await?;
    let result = result.and_then(|json| serde_json::from_str(&json).ok());
    let result = result.ok_or_else(|| {
        let detail = format!("request {id} has not ended, so there is no outcome to compare with");
        ApiError::conflict("request_not_ended", detail)
            .hint("replay it when GET /v1/requests/{id} returns its result")
    })?;
    Ok((batch, stored, result))
}

/// The version of the batch, even if it was yanked, or another version that is not yanked.
async fn plugin(
    app: &App,
    caller: &Caller,
    batch: &Batch,
    version: Option<&str>,
) -> Result<Arc<ReadyPlugin>, ApiError> {
    let named = VersionName::parse(&batch.plugin);
    let VersionName { name, version: own } =
        named.ok_or_else(|| ApiError::not_found("plugin version"))?;
    caller.may_use_plugin(name)?;
    let Some(version) = version.filter(|version| *version != own) else {
        return Ok(app.registry.pinned(caller.tenant, name, own).await?);
    };
    let reference =
        Reference { tenant: None, name: name.to_owned(), channel_or_version: version.to_owned() };
    if !reference.is_version() {
        return Err(ApiError::bad_request(format!("`{version}` is not a version of a plugin"))
            .hint("GET /v1/plugins/{name} lists the versions"));
    }
    caller.may_use(&reference)?;
    Ok(app.registry.resolve(caller.tenant, &reference).await?)
}

async fn announcement(
    app: &App,
    caller: &Caller,
    (id, stored): (RequestId, StoredRequest),
    plugin: Arc<ReadyPlugin>,
) -> Result<Announcement, ApiError> {
    let settings = app.store.batch_settings(caller.tenant, id.batch).await?;
    let place = QueueWait::of_call().budget(app, caller.tenant, stored.body.len()).await?;
    let row = rewards::single_batch(caller.tenant, &plugin, settings);
    let StoredRequest { key, group, body, .. } = stored;
    let item = NewItem {
        key,
        group,
        body: body.into(),
        permit: place,
        due: None,
        expected_ms: None,
        trace: None,
    };
    Ok(Announcement { row, plugin, single: Some(item), replays: Some(id) })
}
