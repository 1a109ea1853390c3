//! `/v1/rewards`: single requests, each in a batch of one.

pub(crate) mod score;

use std::time::Duration;

use assay_api::batch::Consumes;
use assay_api::result::ResultItem;
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::limits;
use assay_dispatch::committed::CommittedBatch;
use assay_dispatch::{DispatchError, ReadyPlugin, now};
use assay_store::admissions::BatchRow;
use axum::http::StatusCode;

use crate::problem::ApiError;

pub(crate) const WAIT_DEFAULT: Duration = Duration::from_secs(60);

const PATIENCE: Duration = Duration::from_secs(limits::ADMISSION_SECONDS_MAX);

/// The run under which single requests are counted.
const RUN: &str = "lone";

/// A batch for one single request.
pub(crate) fn single_batch(tenant: TenantId, plugin: &ReadyPlugin, settings: String) -> BatchRow {
    let at = now();
    BatchRow {
        tenant,
        id: BatchId::generate_at(at),
        run: RUN.into(),
        iteration: 0,
        plugin: plugin.description.name.clone(),
        version: plugin.description.version.clone(),
        digest: plugin.digest,
        settings,
        expected_size: Some(1),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: Consumes::Batch,
        share_equal: false,
        idle_ms: None,
        idempotency: None,
        announced_at: at,
        sealed_at: Some(at),
    }
}

/// Waits for the result of the batch's only request.
pub(crate) async fn outcome(
    committed: &CommittedBatch,
    wait: Duration,
) -> Result<ResultItem, ApiError> {
    let ended = committed.wait_until(|progress| progress.refused || !progress.results.is_empty());
    if tokio::time::timeout(wait, ended).await.is_err() {
        // The id may be sent only after the request is committed.
        let written =
            committed.wait_until(|progress| progress.refused || progress.counts.submitted > 0);
        tokio::time::timeout(PATIENCE, written).await.map_err(|_| too_long())?;
        refused(committed)?;
        return Err(not_finished(RequestId { batch: committed.row.id, seq: 0 }, wait));
    }
    refused(committed)?;
    let result = committed.look(|progress| progress.results.first().cloned());
    result.and_then(|json| serde_json::from_slice(&json).ok()).ok_or_else(stopping)
}

fn refused(committed: &CommittedBatch) -> Result<(), ApiError> {
    let refused = committed.look(|progress| progress.refused);
    if refused { Err(DispatchError::NotKept.into()) } else { Ok(()) }
}

fn too_long() -> ApiError {
    unanswered("database_unavailable", "the database takes too long to keep the request")
}

fn stopping() -> ApiError {
    unanswered("stopping", "the server stopped before the request ended")
}

/// An error after the request was taken. It may run and count, and the call has no key by which a repeat would be
/// known as one: so this names no time for a repeat.
fn unanswered(code: &'static str, detail: &'static str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, detail).hint(
        "the request may run all the same; the same call again is another request, which is \
         scored and counted too",
    )
}

fn not_finished(id: RequestId, wait: Duration) -> ApiError {
    let detail = format!("request {id} has not ended after {} s; it still runs", wait.as_secs());
    ApiError::new(StatusCode::GATEWAY_TIMEOUT, "not_finished", detail)
        .hint(format!("GET /v1/requests/{id} returns its outcome when it has ended"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_after_admission_invites_no_repeat() {
        for error in [too_long(), stopping()] {
            assert_eq!(error.status, StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(error.retry_after_s, None, "clients repeat a call after that time");
            let hint = error.hint.expect("a hint");
            assert!(hint.contains("another request"), "{hint}");
        }
    }
}
