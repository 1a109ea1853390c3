//! The dispatcher's lock while this server has it.

use std::time::Duration;

use assay_core::time::Micros;
use assay_dispatch::now;
use assay_fleet::Tenure;
use assay_store::{DispatcherLock, Store, StoreError};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::waiting::LOCK_PERIOD;

/// The time for which the server tries to get the lock back after the database was unavailable.
const LOCK_LOST_AFTER: Duration = Duration::from_secs(30);

/// The dispatcher's lock, and the task that watches it.
pub(crate) struct HeldLock {
    pub(crate) lost: oneshot::Receiver<StoreError>,
    /// The time for which it is held.
    pub(crate) tenure: Tenure,
    /// Gives the lock back.
    pub(crate) unlock: oneshot::Sender<()>,
    pub(crate) keeping: JoinHandle<()>,
}

impl HeldLock {
    pub(crate) fn keep(store: Store, lock: DispatcherLock) -> Self {
        let (losing, lost) = oneshot::channel();
        let (unlock, unlocked) = oneshot::channel();
        let (proven, proofs) = watch::channel(Some(now()));
        let keeping = tokio::spawn(async move {
            tokio::select! {
                error = watch_lock(store, lock, &proven) => {
                    proven.send_replace(None);
                    drop(losing.send(error));
                }
                // Also if the server's start has failed.
                _ = unlocked => {}
            }
        });
        Self { lost, tenure: Tenure::new(proofs), unlock, keeping }
    }
}

/// Watches the lock, which each answer of the database proves anew, until it is lost. After the database was unavailable
/// it is taken again, unless another server has it or had it since.
async fn watch_lock(
    store: Store,
    mut lock: DispatcherLock,
    proven: &watch::Sender<Option<Micros>>,
) -> StoreError {
    let mut away_since: Option<tokio::time::Instant> = None;
    loop {
        tokio::time::sleep(LOCK_PERIOD).await;
        let asked_at = now();
        if away_since.is_none() && lock.check().await.is_ok() {
            proven.send_replace(Some(asked_at));
            continue;
        }
        let since = *away_since.get_or_insert_with(tokio::time::Instant::now);
        match store.try_lock_again(&lock).await {
            Ok(Some(again)) => {
                lock = again;
                away_since = None;
                proven.send_replace(Some(asked_at));
            }
            // PostgreSQL may not have noticed the end of the old connection yet.
            Ok(None) if since.elapsed() < LOCK_LOST_AFTER => {}
            Ok(None) => return StoreError::Conflict("another server has taken it".into()),
            Err(error @ StoreError::Conflict(_)) => return error,
            Err(error) => tracing::warn!("the database is unavailable: {error}"),
        }
    }
}
