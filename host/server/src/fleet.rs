//! Worker processes on this machine: started, watched, started again, killed when told to.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::process::{Child, Command};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

/// A worker that lived for less than this failed to start.
const HEALTHY: Duration = Duration::from_secs(5);
const RESTART_DELAY_MAX: Duration = Duration::from_secs(10);
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How workers are started.
#[derive(Debug, Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub socket: PathBuf,
    pub token: String,
    pub cache: PathBuf,
}

/// Kills workers of this machine; cheap to clone.
#[derive(Clone, Default)]
pub struct Fleet {
    kills: Arc<Mutex<HashMap<u32, Arc<Notify>>>>,
}

impl Fleet {
    /// Kills the worker if it is one of ours that still lives. A process id is ours until its
    /// supervisor has seen it end, so never another program's.
    pub fn kill(&self, pid: u32) {
        let kills = self.kills.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kill) = kills.get(&pid) {
            kill.notify_one();
        }
    }

    fn adopt(&self, pid: u32) -> Arc<Notify> {
        let kill = Arc::new(Notify::new());
        let mut kills = self.kills.lock().unwrap_or_else(PoisonError::into_inner);
        kills.insert(pid, kill.clone());
        kill
    }

    fn release(&self, pid: u32) {
        self.kills.lock().unwrap_or_else(PoisonError::into_inner).remove(&pid);
    }
}

/// The supervisors of a fixed number of workers.
pub struct Supervisors {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Supervisors {
    /// Starts `count` workers in each pool and keeps them running.
    #[must_use]
    pub fn start(fleet: &Fleet, launch: &Launch, pools: &[(String, usize)]) -> Self {
        let stop = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        for (pool, count) in pools {
            for _ in 0..*count {
                let (fleet, launch, pool) = (fleet.clone(), launch.clone(), pool.clone());
                tasks.spawn(supervise(fleet, launch, pool, stop.subscribe()));
            }
        }
        Self { stop, tasks }
    }

    /// Asks every worker to end and waits until they have.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

async fn supervise(fleet: Fleet, launch: Launch, pool: String, mut stop: watch::Receiver<bool>) {
    let mut delay = Duration::ZERO;
    while !*stop.borrow() {
        let started = Instant::now();
        match spawn(&launch, &pool) {
            Ok(child) => watch_child(&fleet, child, &pool, &mut stop).await,
            Err(error) => tracing::error!("a worker cannot be started: {error:#}"),
        }
        delay = if started.elapsed() >= HEALTHY {
            Duration::ZERO
        } else {
            (delay * 2).clamp(Duration::from_millis(50), RESTART_DELAY_MAX)
        };
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            _ = stop.changed() => {}
        }
    }
}

async fn watch_child(
    fleet: &Fleet,
    mut child: Child,
    pool: &str,
    stop: &mut watch::Receiver<bool>,
) {
    let Some(pid) = child.id() else { return };
    let kill = fleet.adopt(pid);
    let stopping = tokio::select! {
        ended = child.wait() => {
            tracing::warn!(worker.pid = pid, worker.pool = pool, "a worker ended: {}", reason(ended));
            false
        }
        () = kill.notified() => false,
        _ = stop.changed() => true,
    };
    if stopping {
        end_gently(&mut child, pid).await;
    } else if let Err(error) = child.kill().await {
        tracing::error!(worker.pid = pid, "a worker cannot be killed: {error}");
    }
    fleet.release(pid);
}

async fn end_gently(child: &mut Child, pid: u32) {
    let raw = i32::try_from(pid).expect("a process id fits");
    // Gone already is as good.
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(raw), nix::sys::signal::SIGTERM);
    if tokio::time::timeout(STOP_TIMEOUT, child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
}

fn reason(ended: std::io::Result<std::process::ExitStatus>) -> String {
    ended.map_or_else(|error| error.to_string(), |status| status.to_string())
}

fn spawn(launch: &Launch, pool: &str) -> anyhow::Result<Child> {
    Command::new(&launch.program)
        .arg("serve")
        .arg("--connect")
        .arg(&launch.socket)
        .arg("--pool")
        .arg(pool)
        .arg("--cache")
        .arg(&launch.cache)
        // Nothing of the host's environment is a worker's business.
        .env_clear()
        .env("ASSAY_WORKER_TOKEN", &launch.token)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("starting {}", launch.program.display()))
}
