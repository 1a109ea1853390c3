//! `POST /v1/batches`: the rollout has started, and requests will come.

use std::time::Duration;

use assay_api::batch::{AnnounceBatch, Batch};
use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_dispatch::{Announcement, DispatchError};
use assay_store::admissions::Idempotency;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};

use super::find;
use crate::announcements;
use crate::app::{App, AppState};
use crate::extract::body;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::name::check_text;
use crate::problem::ApiError;

/// Two seconds in total; a commit takes milliseconds.
const TWIN_LOOKS_MAX: u32 = 100;

const TWIN_LOOK_PERIOD: Duration = Duration::from_millis(20);

/// Announce a batch: the rollout has started, and requests will come.
#[utoipa::path(
    post, path = "/v1/batches", tag = "batches", request_body = AnnounceBatch,
    params(("Idempotency-Key" = Option<String>, Header, description = "Key of the call: a repeat under the same key returns the same batch")),
    responses((status = 201, body = Batch))
)]
pub(crate) async fn announce(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Batch>), ApiError> {
    let (call, bytes): (AnnounceBatch, _) = body::json(body).await?;
    check(&call)?;
    if let Some(join) = call.join {
        // A repeat gets the same batch, whatever its key.
        let committed = announcements::join(&app, &caller, call, join).await?;
        return Ok((StatusCode::CREATED, Json(committed.batch())));
    }
    let idempotency = idempotency(&headers, &bytes)?;
    if let Some(batch) = repeated(&app, caller.tenant, idempotency.as_ref()).await? {
        return Ok((StatusCode::CREATED, Json(batch)));
    }
    let (row, plugin) = announcements::row(&app, &caller, call, idempotency).await?;
    let twin = row.idempotency.clone();
    // Once more: since the first look another call under the key may have come and gone.
    if let Some(batch) = repeated(&app, caller.tenant, twin.as_ref()).await? {
        return Ok((StatusCode::CREATED, Json(batch)));
    }
    let announcement = Announcement { row, plugin, single: None, replays: None };
    let batch = match app.dispatch.announce(announcement).await {
        Ok(committed) => committed.batch(),
        Err(DispatchError::KeyInUse) => of_twin(&app, caller.tenant, twin.as_ref()).await?,
        Err(error) => return Err(error.into()),
    };
    Ok((StatusCode::CREATED, Json(batch)))
}

fn check(call: &AnnounceBatch) -> Result<(), ApiError> {
    check_text("run", &call.run, limits::RUN_BYTES_MAX)
        .map_err(|error| ApiError::bad_request(error).field("run"))?;
    if matches!(&*call.run, "." | "..") {
        // Clients take them for steps in the path of an address.
        return Err(ApiError::bad_request(
            "run must not be `.` or `..`: a URL cannot contain them",
        ));
    }
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
    if let Some(join) = &call.join {
        let max = limits::JOIN_IDLE_MS_MAX;
        if !(1..=max).contains(&join.idle_ms) {
            return Err(ApiError::bad_request(format!(
                "join.idle_ms must be 1 to {max}, not {}",
                join.idle_ms
            )));
        }
        if call.expected_size.is_some() {
            return Err(ApiError::bad_request("expected_size cannot be combined with join")
                .hint("the server seals a batch that is joined: leave expected_size out"));
        }
    }
    if call.max_extra_delay_ms.is_some_and(|delay| i32::try_from(delay).is_err()) {
        return Err(ApiError::bad_request("max_extra_delay_ms is too large"));
    }
    Ok(())
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
    Ok(Some(Idempotency { key: key.into(), call_hash: Digest::of(bytes) }))
}

/// The batch that an earlier call under the same key made.
async fn repeated(
    app: &App,
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

/// The batch of the same call that is about to be committed by another connection.
async fn of_twin(
    app: &App,
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
