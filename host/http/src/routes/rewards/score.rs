//! `POST /v1/rewards`: one request, with its outcome in the response.

use std::sync::Arc;

use assay_api::request::{Reward, RewardRequest};
use assay_api::result::ResultItem;
use assay_core::limits;
use assay_dispatch::committed::CommittedBatch;
use assay_dispatch::{Announcement, NewItem};
use assay_store::admissions::BatchRow;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::value::RawValue;

use super::{WAIT_DEFAULT, outcome, single_batch};
use crate::announcements;
use crate::app::{App, AppState};
use crate::auth::Caller;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::trace::CallTrace;
use crate::extract::{body, item};
use crate::problem::ApiError;
use crate::quotas::{self, QueueWait};
use crate::routes::batches;

/// Score one request and wait for its outcome.
#[utoipa::path(
    post, path = "/v1/rewards", tag = "rewards", request_body = RewardRequest,
    params(("Prefer" = Option<String>, Header, description = "Seconds to wait for the outcome, as `wait=60`: 60 when absent, 300 at most")),
    responses((status = 200, body = Reward))
)]
pub(crate) async fn reward(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Reward>, ApiError> {
    let mut turn = body::Turn::new(&app.buffered, caller.tenant);
    let bytes = body::whole_in_turn(body, "the body", limits::ITEM_BYTES_MAX, &mut turn).await?;
    let trace = CallTrace::of(&app, &headers);
    let call = body::parse(&bytes)?;
    drop(bytes);
    let committed = admit(&app, &caller, call, trace).await?;
    drop(turn);
    let wait = batches::wait(&headers).unwrap_or(WAIT_DEFAULT);
    let item = outcome(&committed, wait).await?;
    let plugin_digest = committed.row.digest;
    let ResultItem { id, outcome, stages, shared_from, trace_id, .. } = item;
    Ok(Json(Reward { id, plugin_digest, outcome, stages, shared_from, trace_id }))
}

/// Makes a batch of one request.
async fn admit(
    app: &App,
    caller: &Caller,
    call: RewardRequest,
    trace: CallTrace,
) -> Result<Arc<CommittedBatch>, ApiError> {
    let RewardRequest { plugin, prompt, response, label, metadata, settings, share_equal } = call;
    quotas::admits(app, caller.tenant).await?;
    let settings = body::settings(settings.as_deref())?;
    let reference = announcements::reference(caller, &plugin)?;
    let plugin = app.registry.resolve(caller.tenant, &reference).await?;
    quotas::granted(app, caller.tenant, &plugin)?;
    item::check_fields(&prompt, &response, label.as_deref(), metadata.as_deref())
        .map_err(ApiError::bad_request)?;
    let validation = app.registry.validation(caller.tenant, &plugin).await;
    validation.settings(caller.tenant, &settings).await.map_err(ApiError::invalid_settings)?;
    let given = label.as_deref().map(RawValue::get);
    validation.label(caller.tenant, given).await.map_err(ApiError::invalid_label)?;
    let body = item::encode(prompt, response, label, metadata);
    let place = QueueWait::of_call().budget(app, caller.tenant, body.len()).await?;
    let share_equal = share_equal.unwrap_or(true);
    let row = BatchRow { share_equal, ..single_batch(caller.tenant, &plugin, settings) };
    let (key, body, trace) = ("0".into(), body.into(), trace.next());
    let single = Some(NewItem {
        key,
        group: None,
        body,
        permit: place,
        due: None,
        expected_ms: None,
        trace,
    });
    Ok(app.dispatch.announce(Announcement { row, plugin, single, replays: None }).await?)
}
