//! The life of one worker process, from its start until it is reaped.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use assay_core::limits;
use assay_core::time::Micros;
use nix::sys::signal;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::fleet::{DesiredState, Fleet, Launch, ProcessId, StartFailure, pause};

const START_MAX: Duration = Duration::from_secs(limits::WORKER_START_SECONDS_MAX);
const STOP_MAX: Duration = Duration::from_secs(limits::WORKER_STOP_SECONDS_MAX);

/// How a start ended.
enum Start {
    Joined(Child),
    GivenUp,
    Failed(String),
}

pub(super) async fn run(
    fleet: Fleet,
    process: ProcessId,
    pool: Arc<str>,
    mut desired: watch::Receiver<DesiredState>,
) {
    let level = fleet.level(&pool);
    match start(&fleet, process, &pool, &mut desired).await {
        Start::Joined(child) => stay(&fleet, process, &pool, child, &mut desired).await,
        Start::GivenUp => fleet.leave(process),
        Start::Failed(error) => {
            let pause = fleet.failed(&pool, level, error);
            // Until the dispatcher has handled the failure, it counts this start as under way and
            // may give it up; otherwise it would give up another start in its place.
            let given_up = desired.wait_for(|desired| *desired > DesiredState::Join);
            let waited = tokio::time::timeout(pause, given_up).await.is_err();
            // A dispatcher that has ended needs no replacement.
            if waited && fleet.failed.send(process).is_ok() {
                // The sender lives until this task removes the process.
                let _ = desired.wait_for(|desired| *desired > DesiredState::Join).await;
            }
            fleet.leave(process);
        }
    }
}

async fn start(
    fleet: &Fleet,
    process: ProcessId,
    pool: &str,
    desired: &mut watch::Receiver<DesiredState>,
) -> Start {
    let (mut child, pid) = {
        let _unknown = fleet.spawning.lock().await;
        if *desired.borrow() != DesiredState::Join {
            return Start::GivenUp;
        }
        let child = match spawn(&fleet.launch, pool) {
            Ok(child) => child,
            Err(error) => return Start::Failed(format!("{error:#}")),
        };
        let pid = child.id().expect("a child that nobody waited for has its id");
        fleet.state().pids.insert(pid, process);
        (child, pid)
    };
    let ended = tokio::select! {
        ended = child.wait() => Some(Start::Failed(format!(
            "a worker ended before it joined: {}",
            reason(ended)
        ))),
        desired = desired.wait_for(|desired| *desired > DesiredState::Join) => {
            // The sender lives until this task removes the process.
            let joined = desired.is_ok_and(|desired| *desired == DesiredState::Stay);
            if joined { None } else { Some(Start::GivenUp) }
        }
        () = tokio::time::sleep(START_MAX) => Some(Start::Failed(format!(
            "a worker did not join within {} s",
            START_MAX.as_secs()
        ))),
    };
    let Some(ended) = ended else { return Start::Joined(child) };
    end_now(&mut child, pid).await;
    fleet.state().pids.remove(&pid);
    ended
}

/// Watches a joined worker until it is asked to end or ends by itself.
async fn stay(
    fleet: &Fleet,
    process: ProcessId,
    pool: &str,
    mut child: Child,
    desired: &mut watch::Receiver<DesiredState>,
) {
    let Some(pid) = child.id() else { return fleet.leave(process) };
    let ended = tokio::select! {
        ended = child.wait() => Some(ended),
        desired = desired.wait_for(|desired| *desired > DesiredState::Stay) => {
            drop(desired);
            None
        }
    };
    let ended = match ended {
        None if *desired.borrow() == DesiredState::Stop => {
            ask_to_end(&mut child, pid, desired).await
        }
        ended => ended,
    };
    match ended {
        Some(ended) if was_asked(&ended) => {
            tracing::debug!(worker.pid = pid, worker.pool = pool, "a worker ended as it was asked");
        }
        Some(ended) => {
            let reason = reason(ended);
            tracing::warn!(worker.pid = pid, worker.pool = pool, "a worker ended: {reason}");
        }
        None => end_now(&mut child, pid).await,
    }
    fleet.state().pids.remove(&pid);
    fleet.leave(process);
}

/// Asks the worker to end. Returns how it ended, or `None` if it must be killed.
async fn ask_to_end(
    child: &mut Child,
    pid: u32,
    desired: &mut watch::Receiver<DesiredState>,
) -> Option<std::io::Result<ExitStatus>> {
    let raw = i32::try_from(pid).expect("a process id fits");
    // The process may have ended already.
    let _ = signal::kill(nix::unistd::Pid::from_raw(raw), signal::SIGTERM);
    tokio::select! {
        ended = child.wait() => Some(ended),
        desired = desired.wait_for(|desired| *desired == DesiredState::Kill) => {
            drop(desired);
            None
        }
        () = tokio::time::sleep(STOP_MAX) => {
            tracing::warn!(worker.pid = pid, "a worker does not end; killing it");
            None
        }
    }
}

/// Whether the worker ended as asked: it has no handler for SIGTERM.
fn was_asked(ended: &std::io::Result<ExitStatus>) -> bool {
    let by = |status: &ExitStatus| status.signal() == Some(signal::SIGTERM as i32);
    ended.as_ref().is_ok_and(|status| status.success() || by(status))
}

/// Returns when the process is reaped.
async fn end_now(child: &mut Child, pid: u32) {
    if let Err(error) = child.kill().await {
        tracing::error!(worker.pid = pid, "a worker cannot be killed: {error}");
    }
}

impl Fleet {
    fn level(&self, pool: &str) -> u32 {
        self.state().pools.get(pool).map_or(0, |starts| starts.level)
    }

    fn leave(&self, process: ProcessId) {
        let mut state = self.state();
        state.processes.remove(&process);
        self.count.send_replace(state.processes.len());
    }

    /// Records the reason and returns the pause before the report; `level` is the pool's number of
    /// failures in a row at the beginning of this start.
    fn failed(&self, pool: &Arc<str>, level: u32, error: String) -> Duration {
        let mut state = self.state();
        let starts = state.pools.entry(Arc::clone(pool)).or_default();
        let first = starts.level <= level;
        starts.level = starts.level.max(level.saturating_add(1));
        let pause = pause(starts.level);
        let failed_at = Micros::from_datetime(time::OffsetDateTime::now_utc());
        let next_try_at = failed_at + Micros::from_ms(pause.as_millis().try_into().unwrap_or(0));
        let failures = starts.trouble.as_ref().map_or(0, |trouble| trouble.failures) + 1;
        if first {
            tracing::error!(
                worker.pool = &**pool,
                failures,
                "a worker cannot be started, the next try comes in {} ms: {error}",
                pause.as_millis()
            );
        }
        starts.trouble = Some(StartFailure { failures, error, failed_at, next_try_at });
        pause
    }
}

fn reason(ended: std::io::Result<ExitStatus>) -> String {
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
        .args(launch.programs.arguments_for(pool))
        // The server's environment may hold secrets, so a worker gets none of it.
        .env_clear()
        .env("ASSAY_WORKER_TOKEN", &launch.token)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("starting {}", launch.program.display()))
}
