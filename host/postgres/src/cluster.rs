//! The private cluster as its users see it: started, kept running, stopped.
//!
//! One task owns the postmaster and the data folder's lock:
//!
//! ```text
//!            launched              ended by itself
//!  (start) ----------> up(pid) ---------------------> down --+
//!                        ^  |                          | |   | launch failed: wait, try again
//!                        |  | stop, drop               | |<--+
//!                        |  v            stop, drop    | |
//!                        | stopped <-------------------+ | too many failures in a row
//!                        +------------- launched --------+-----------------------------> failed
//! ```
//!
//! What fails while the disk is full does not count: it goes on once somebody has made room.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use nix::sys::statvfs::statvfs;
use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
};

use crate::{
    error::Error,
    folder::{Layout, Lock, default_data_folder},
    launch::ServerSetup,
    log,
    postmaster::Postmaster,
    programs::SearchPlaces,
    settings,
};

/// The number of ends and failed starts in a row after which we give up.
const FAILURES_MAX: u32 = 8;
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// A server that was up this long has not failed at starting.
const SETTLED: Duration = Duration::from_secs(60);
/// Free bytes below which the disk is full: two segments of the write-ahead log, one of which a start may need.
const ROOM_MIN: u64 = 32 << 20;

/// How to start a private cluster.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data folder; made where it is missing. See [`default_data_folder`].
    pub data: PathBuf,
}

/// A private PostgreSQL cluster, running until it is stopped or dropped. Dropping does not wait for
/// the server to end; [`Cluster::stop`] does.
#[derive(Debug)]
pub struct Cluster {
    url: String,
    programs: PathBuf,
    state: watch::Receiver<ClusterState>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ClusterState {
    Up(u32),
    Down,
    Failed { failures: u32, last: String },
}

impl Cluster {
    /// Starts the server of the data folder, makes a cluster first where there is none, or adopts
    /// the server that a killed Assay left running. From then on a task of the current tokio runtime
    /// restarts it whenever it ends.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::GaveUp`]; the message says what to do.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let layout = Layout::make(&options.data)?;
        let lock = layout.lock()?;
        let mut homes = vec![layout.data.clone()];
        homes.extend(default_data_folder().ok());
        let site = ServerSetup::prepare(layout, &SearchPlaces::of_machine(&homes)).await?;
        let postmaster = site.launch().await?;

        let (url, programs) = (settings::url(&site.socket), site.programs.folder.clone());
        let (sender, state) = watch::channel(ClusterState::Up(postmaster.pid()));
        let (stop, stopping) = oneshot::channel();
        let task = tokio::spawn(keep(site, lock, postmaster, sender, stopping));
        Ok(Self { url, programs, state, stop, task })
    }

    /// The `DATABASE_URL` of the one database, for sqlx and libpq; it stays the same over restarts.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The folder of the server programs in use, where `psql` mostly lies too.
    #[must_use]
    pub fn programs(&self) -> &std::path::Path {
        &self.programs
    }

    /// The postmaster's process id; None while it is down.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match *self.state.borrow() {
            ClusterState::Up(pid) => Some(pid),
            ClusterState::Down | ClusterState::Failed { .. } => None,
        }
    }

    /// Returns only when the server could not be kept running and nobody tries any longer.
    pub async fn failed(&self) -> Error {
        let mut state = self.state.clone();
        let failed = state.wait_for(|state| matches!(state, ClusterState::Failed { .. })).await;
        if let Ok(ClusterState::Failed { failures, last }) = failed.as_deref() {
            return Error::GaveUp { failures: *failures, last: last.clone() };
        }
        // The task ends without a word only together with the runtime.
        std::future::pending().await
    }

    /// Shuts the server down, fast but in order, and lets go of the data folder.
    pub async fn stop(self) {
        let Self { stop, task, .. } = self;
        // A task that has given up is gone already.
        let _ = stop.send(());
        let _ = task.await;
    }
}

/// Keeps the server running until told to stop, or until the cluster is dropped.
async fn keep(
    site: ServerSetup,
    _lock: Lock,
    postmaster: Postmaster,
    state: watch::Sender<ClusterState>,
    mut stopping: oneshot::Receiver<()>,
) {
    let mut running = Some(postmaster);
    let mut failures = 0;
    let mut looks = tokio::time::interval(log::LOOK);
    while let Some(mut postmaster) = running.take() {
        let up_since = Instant::now();
        let how = loop {
            tokio::select! {
                how = postmaster.ended() => break how,
                _ = &mut stopping => {
                    postmaster.stop().await;
                    return site.leave();
                }
                _ = looks.tick() => bound_log(&site).await,
            }
        };
        state.send_replace(ClusterState::Down);
        if up_since.elapsed() > SETTLED {
            failures = 0;
        }
        failures += u32::from(!is_full(&site.layout.data));
        tracing::error!(
            postgres.pid = postmaster.pid(),
            postgres.log = %site.layout.log.display(),
            "PostgreSQL ended by itself ({how}); starting it again"
        );
        running = tokio::select! {
            running = relaunch(&site, failures, &state) => running,
            _ = &mut stopping => return,
        };
    }
}

/// Keeps the log of a server that runs for months from filling the disk.
async fn bound_log(site: &ServerSetup) {
    let path = site.layout.log.clone();
    let bounded = tokio::task::spawn_blocking(move || log::put_aside(&path)).await;
    if let Ok(Err(error)) = bounded {
        tracing::warn!("PostgreSQL's log stays as large as it is: {error}");
    }
}

/// A disk whose free bytes cannot be told is not full.
fn is_full(folder: &Path) -> bool {
    statvfs(folder).is_ok_and(|disk| disk.blocks_available() * disk.fragment_size() < ROOM_MIN)
}

/// Starts the server again, with a growing pause between attempts. None once it gave up.
async fn relaunch(
    site: &ServerSetup,
    mut failures: u32,
    state: &watch::Sender<ClusterState>,
) -> Option<Postmaster> {
    let mut last = "it ended soon after each start".to_owned();
    let mut pause = BACKOFF_MIN;
    while failures < FAILURES_MAX {
        match site.launch().await {
            Ok(postmaster) => {
                tracing::info!(postgres.pid = postmaster.pid(), "PostgreSQL is up again");
                state.send_replace(ClusterState::Up(postmaster.pid()));
                return Some(postmaster);
            }
            Err(error) => last = error.to_string(),
        }
        if is_full(&site.layout.data) {
            let folder = site.layout.data.display();
            tracing::error!(
                "PostgreSQL cannot start because the disk of {folder} is full; it is tried again: {last}"
            );
        } else {
            failures += 1;
        }
        if failures < FAILURES_MAX {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(BACKOFF_MAX);
        }
    }
    tracing::error!("PostgreSQL cannot be kept running: {last}");
    state.send_replace(ClusterState::Failed { failures, last });
    None
}
