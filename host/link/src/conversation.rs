//! One worker's stream, from its join to its end.

use std::sync::Arc;
use std::time::Duration;

use assay_core::id::WorkerId;
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::{Dispatch, Joining, LastContact, WorkerLink, count_run_delay};
use assay_wire::proto::FromWorker;
use tokio::sync::oneshot;
use tonic::Streaming;

pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(limits::HEARTBEAT_SECONDS_MAX);

/// Serves a worker from its join, which it reports to `joined`, until the worker is gone.
pub(crate) async fn converse(
    dispatch: Dispatch,
    joining: Joining,
    link: WorkerLink,
    messages: Streaming<FromWorker>,
    joined: oneshot::Sender<()>,
) {
    let (ticket, pool) = (joining.ticket, Arc::clone(&joining.pool));
    let heard = joining.heard.clone();
    let Ok(worker) = dispatch.worker_joined(joining, link).await else { return };
    tracing::info!(worker.id = worker.0, worker.ticket = %ticket, worker.pool = &*pool, "a worker joined");
    // The caller may have gone; then the messages have ended as well.
    let _ = joined.send(());
    let ended = read(&dispatch, worker, (&pool, &heard), messages).await;
    tracing::debug!(worker.id = worker.0, "a worker left: {ended}");
    dispatch.worker_lost(worker).await;
}

/// Reads until the worker leaves or is silent for too long; returns the reason.
async fn read(
    dispatch: &Dispatch,
    worker: WorkerId,
    (pool, heard): (&str, &LastContact),
    mut messages: Streaming<FromWorker>,
) -> String {
    loop {
        match tokio::time::timeout(SILENCE_MAX, messages.message()).await {
            Err(_) => return format!("silent for {} s", SILENCE_MAX.as_secs()),
            Ok(Err(status)) => return status.message().to_owned(),
            Ok(Ok(None)) => return "its stream ended".into(),
            Ok(Ok(Some(message))) => {
                heard.now();
                if message.finished.is_empty() {
                    count_run_delay(pool, Micros(message.run_delay_us));
                }
                if !message.finished.is_empty()
                    && dispatch.finished(worker, message.finished).await.is_err()
                {
                    return "the host is stopping".into();
                }
            }
        }
    }
}
