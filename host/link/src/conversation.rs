//! One worker's stream, from its join to its end.

use std::sync::Arc;
use std::time::Duration;

use assay_core::id::WorkerId;
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::{Dispatch, Joining, LastContact, WorkerLink, count_run_delay};
use assay_fleet::{Stop, Visit};
use assay_wire::proto::{FromWorker, ToWorker};
use tokio::sync::oneshot;
use tonic::Streaming;

pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(limits::HEARTBEAT_SECONDS_MAX);

const STOPPING: &str = "the host is stopping";

/// The time in which a worker that is asked to leave must do so.
const LEAVE_MAX: Duration = Duration::from_secs(limits::WORKER_STOP_SECONDS_MAX);

/// Both directions of a worker's stream.
pub(crate) struct Conversation {
    pub joining: Joining,
    pub link: WorkerLink,
    pub messages: Streaming<FromWorker>,
    /// The stay of a worker that joined by TLS.
    pub visit: Option<Visit>,
}

/// Serves a worker from its join, which it reports to `joined`, until the worker is gone.
pub(crate) async fn converse(
    dispatch: Dispatch,
    conversation: Conversation,
    joined: oneshot::Sender<()>,
) {
    let Conversation { joining, link, messages, mut visit } = conversation;
    let link_to_stop = visit.is_some().then(|| link.clone());
    let departure = visit.as_ref().map(Visit::leaving);
    let (ticket, pool) = (joining.ticket, Arc::clone(&joining.pool));
    let heard = joining.heard.clone();
    let Ok(worker) = dispatch.worker_joined(joining, link).await else { return };
    tracing::info!(worker.id = worker.0, worker.ticket = %ticket, worker.pool = &*pool, "a worker joined");
    // The caller may have gone; then the messages have ended as well.
    let _ = joined.send(());
    let ended = tokio::select! {
        ended = read(&dispatch, worker, (&pool, &heard), messages) => ended,
        () = stopped(visit.as_mut(), link_to_stop) => "it was told to end".into(),
        () = drained(&dispatch, worker, departure) => STOPPING.into(),
    };
    tracing::debug!(worker.id = worker.0, "a worker left: {ended}");
    dispatch.worker_lost(worker).await;
}

/// Gives the worker nothing more once it is known that somebody else will end it. Resolves if the server is stopping.
async fn drained(
    dispatch: &Dispatch,
    worker: WorkerId,
    departure: Option<impl Future<Output = ()>>,
) {
    let Some(departure) = departure else { return std::future::pending().await };
    departure.await;
    if dispatch.drain(worker).await.is_ok() {
        std::future::pending().await
    }
}

/// Resolves when a worker that joined by TLS must be cut off; asks it to leave where there is time for that. The fleet ends the
/// others by their processes.
async fn stopped(visit: Option<&mut Visit>, link: Option<WorkerLink>) {
    let Some((visit, link)) = visit.zip(link) else { return std::future::pending().await };
    if visit.stopped(Stop::Leave).await != Stop::Leave {
        return;
    }
    // A closed link is reported by its reader.
    let _ = link.send(ToWorker { drain: true, ..ToWorker::default() });
    drop(link);
    let _ = tokio::time::timeout(LEAVE_MAX, visit.stopped(Stop::GiveUp)).await;
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
                let (finished, loads, started) = (message.finished, message.loads, message.started);
                if finished.len().max(loads.len()).max(started.len())
                    > limits::WORKER_MESSAGE_ITEMS_MAX
                {
                    return "it sent more than it can have leases for".into();
                }
                if message.leaving && dispatch.drain(worker).await.is_err() {
                    return STOPPING.into();
                }
                let is_empty = finished.is_empty() && loads.is_empty() && started.is_empty();
                if is_empty && !message.leaving {
                    count_run_delay(pool, Micros(message.run_delay_us));
                }
                if !finished.is_empty() && dispatch.finished(worker, finished).await.is_err() {
                    return STOPPING.into();
                }
                if !loads.is_empty() && dispatch.plugin_loads(worker, loads).await.is_err() {
                    return STOPPING.into();
                }
                if !started.is_empty()
                    && dispatch.started_before_revoked(worker, started).await.is_err()
                {
                    return STOPPING.into();
                }
            }
        }
    }
}
