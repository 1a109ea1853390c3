//! A server before it can work: it waits for the database and for its turn to dispatch, and answers its probes.

use std::time::Duration;

use anyhow::Context as _;
use assay_http::RefusedCalls;
use assay_store::{DispatcherLock, HolderWatch, Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

/// The pause between two tries to reach the database.
const CONNECT_PERIOD: Duration = Duration::from_secs(1);
/// The pause between two lines of the log about the same wait.
const PROGRESS: Duration = Duration::from_secs(10);
/// The pause between two words of the server that holds the lock, and between two looks at it of one that waits.
pub(crate) const LOCK_PERIOD: Duration = Duration::from_secs(2);
/// The number of looks without a word of the server that holds the lock after which it hangs.
const SILENT_LOOKS_MAX: u32 = 10;

/// The probes of a server that waits.
pub(crate) struct Waiting {
    listener: std::net::TcpListener,
    reason: watch::Sender<String>,
    refused: RefusedCalls,
    /// The probes are answered until it is dropped.
    _stop: oneshot::Sender<()>,
}

impl Waiting {
    pub(crate) fn start(listener: TcpListener) -> anyhow::Result<Self> {
        let listener = listener.into_std().context("sharing the listener")?;
        let shared = listener.try_clone().context("sharing the listener")?;
        let shared = TcpListener::from_std(shared).context("sharing the listener")?;
        let (reason, reasons) = watch::channel("the server is starting".to_owned());
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async {
            // The sender sends nothing.
            let _ = stopped.await;
        };
        let (refusing, refused) = assay_http::refused_calls();
        let router = assay_http::waiting_router(reasons, refusing);
        tokio::spawn(assay_http::serve(shared, router, stopped));
        Ok(Self { listener, reason, refused, _stop: stop })
    }

    /// Ends the wait, and gives the listener to who answers from now on, with the calls of trainers that were refused.
    pub(crate) fn end(self) -> anyhow::Result<(TcpListener, RefusedCalls)> {
        let listener = TcpListener::from_std(self.listener).context("taking the listener back")?;
        Ok((listener, self.refused))
    }

    /// Connects to the database, however long it takes to start. A database that cannot be reached is an error at once, as its
    /// address may be wrong, unless it said before that it starts or stops.
    pub(crate) async fn connect(&self, url: &str) -> Result<Store, StoreError> {
        let since = Instant::now();
        let mut told: Option<Instant> = None;
        loop {
            let error = match Store::connect(url).await {
                Err(error @ StoreError::Unavailable(_))
                    if told.is_some() || error.restarting().is_some() =>
                {
                    error
                }
                other => return other,
            };
            let said = error.restarting().map_or_else(|| error.to_string(), str::to_owned);
            let seconds = since.elapsed().as_secs();
            self.reason.send_replace(format!("waiting for the database for {seconds} s: {said}"));
            if told.is_none_or(|at| at.elapsed() >= PROGRESS) {
                tracing::warn!(seconds, "waiting for the database: {said}");
                told = Some(Instant::now());
            }
            tokio::time::sleep(CONNECT_PERIOD).await;
        }
    }

    /// Takes the lock of the one dispatcher that a database has, or waits as a standby until it is free or its holder
    /// hangs. Nothing that a former dispatcher does is committed after that.
    pub(crate) async fn take_lock(&self, store: &Store) -> anyhow::Result<DispatcherLock> {
        let lock = match store.try_lock().await? {
            Some(lock) => lock,
            None => self.stand_by(store).await?,
        };
        self.reason.send_replace("the server is starting".to_owned());
        store.end_former_writers().await?;
        Ok(lock)
    }

    async fn stand_by(&self, store: &Store) -> Result<DispatcherLock, StoreError> {
        tracing::warn!("another server dispatches for this database; standing by");
        self.reason.send_replace("standing by: another server dispatches".to_owned());
        loop {
            let taken = tokio::select! {
                taken = store.wait_for_lock() => taken,
                () = watch_holder(store) => continue,
            };
            match taken {
                Err(error @ StoreError::Unavailable(_)) => {
                    tracing::warn!("the database is unavailable: {error}");
                    tokio::time::sleep(LOCK_PERIOD).await;
                }
                other => return other,
            }
        }
    }
}

/// Ends the sessions of a server that holds the lock and hangs. Returns when nobody holds the lock: who waits for it
/// then waits on a connection that the database has lost.
async fn watch_holder(store: &Store) {
    let mut watch = HolderWatch::default();
    loop {
        tokio::time::sleep(LOCK_PERIOD).await;
        let holder = match store.lock_holder().await {
            Ok(None) => return,
            // A failed look proves nothing, and the next one begins anew.
            holder => holder.unwrap_or_default(),
        };
        let silent_looks = watch.look(holder);
        if let Some(holder) = holder.filter(|_| silent_looks >= SILENT_LOOKS_MAX) {
            let seconds = LOCK_PERIOD.as_secs() * u64::from(silent_looks);
            tracing::error!(seconds, "the server that dispatches hangs; taking its place");
            if let Err(error) = store.end_holder(holder).await {
                tracing::warn!("the database does not end its session: {error}");
            }
        }
    }
}
