//! `/v1/batches`: the batches of a tenant.

pub(crate) mod announce;
pub(crate) mod cancel;
pub(crate) mod events;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod profile;
pub(crate) mod requests;
pub(crate) mod results;
pub(crate) mod seal;
pub(crate) mod submit;
pub(crate) mod timeline;
pub(crate) mod update;

use std::time::Duration;

use assay_api::batch::Batch;
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_dispatch::committed::CommittedBatch;
use axum::http::HeaderMap;

use crate::app::App;
use crate::auth::Caller;
use crate::problem::ApiError;

/// Refuses to read from a batch whose requests and results were deleted.
pub(crate) async fn kept(app: &App, tenant: TenantId, id: BatchId) -> Result<(), ApiError> {
    let expired_at = app.store.expired_at(tenant, id).await?;
    expired_at.map_or(Ok(()), |at| Err(ApiError::gone(at)))
}

/// The live or ended batch of a tenant.
pub(crate) async fn find(app: &App, tenant: TenantId, id: BatchId) -> Result<Batch, ApiError> {
    match app.dispatch.committed.get(tenant, id) {
        Some(committed) => Ok(committed.batch()),
        None => Ok(app.store.batch(tenant, id).await?),
    }
}

/// Refuses to change the batch of a plugin that the key is not for.
async fn may_change(app: &App, caller: &Caller, id: BatchId) -> Result<(), ApiError> {
    caller.may_use_plugin(&find(app, caller.tenant, id).await?.plugin)
}

/// The seconds of `Prefer: wait=N`, within the limit.
pub(crate) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let prefer = headers.get("prefer")?.to_str().ok()?;
    let seconds = prefer.split([',', ';']).find_map(|part| part.trim().strip_prefix("wait="))?;
    Some(Duration::from_secs(seconds.parse::<u64>().ok()?.min(limits::LONG_POLL_SECONDS_MAX)))
}

async fn wait_for_end(committed: &CommittedBatch, wait: Duration) {
    let ended = committed.wait_until(|progress| progress.state.is_final());
    // The state after the wait is the answer, whether the wait ended or ran out.
    let _ = tokio::time::timeout(wait, ended).await;
}
