//! The life of one worker process, from its start until it is reaped.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use assay_model::limits;
use assay_model::time::Micros;
use nix::sys::signal;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::{Fleet, Launch, Member, Trouble, Wish, pause};

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
    member: Member,
    pool: Arc<str>,
    mut wishes: watch::Receiver<Wish>,
) {
    let level = fleet.level(&pool);
    match start(&fleet, member, &pool, &mut wishes).await {
        Start::Joined(child) => stay(&fleet, member, &pool, child, &mut wishes).await,
        Start::GivenUp => fleet.leave(member),
        Start::Failed(error) => {
            let pause = fleet.failed(&pool, level, error);
            // It still counts as a start that is under way, and may be given up meanwhile: until
            // whoever counts starts has heard of it, or another would be given up in its place.
            let given_up = wishes.wait_for(|wish| *wish > Wish::Join);
            let waited = tokio::time::timeout(pause, given_up).await.is_err();
            // A dispatcher that is gone wants no other.
            if waited && fleet.failed.send(member).is_ok() {
                // The sender is gone when the member is, which only this task ends.
                let _ = wishes.wait_for(|wish| *wish > Wish::Join).await;
            }
            fleet.leave(member);
        }
    }
}

async fn start(
    fleet: &Fleet,
    member: Member,
    pool: &str,
    wishes: &mut watch::Receiver<Wish>,
) -> Start {
    let (mut child, pid) = {
        let _unknown = fleet.spawning.lock().await;
        if *wishes.borrow() != Wish::Join {
            return Start::GivenUp;
        }
        let child = match spawn(&fleet.launch, pool) {
            Ok(child) => child,
            Err(error) => return Start::Failed(format!("{error:#}")),
        };
        let pid = child.id().expect("a child that nobody waited for has its id");
        fleet.state().pids.insert(pid, member);
        (child, pid)
    };
    let ended = tokio::select! {
        ended = child.wait() => Some(Start::Failed(format!(
            "a worker ended before it joined: {}",
            reason(ended)
        ))),
        wish = wishes.wait_for(|wish| *wish > Wish::Join) => {
            // The sender is gone when the member is, which only this task ends.
            if wish.is_ok_and(|wish| *wish == Wish::Stay) { None } else { Some(Start::GivenUp) }
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

/// A member of the service, until it is told to go or ends by itself.
async fn stay(
    fleet: &Fleet,
    member: Member,
    pool: &str,
    mut child: Child,
    wishes: &mut watch::Receiver<Wish>,
) {
    let Some(pid) = child.id() else { return fleet.leave(member) };
    let ended = tokio::select! {
        ended = child.wait() => Some(ended),
        wish = wishes.wait_for(|wish| *wish > Wish::Stay) => {
            drop(wish);
            None
        }
    };
    let ended = match ended {
        None if *wishes.borrow() == Wish::Stop => ask_to_end(&mut child, pid, wishes).await,
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
    fleet.leave(member);
}

/// Returns how it ended; `None` when it must be killed.
async fn ask_to_end(
    child: &mut Child,
    pid: u32,
    wishes: &mut watch::Receiver<Wish>,
) -> Option<std::io::Result<ExitStatus>> {
    let raw = i32::try_from(pid).expect("a process id fits");
    // Ended already is as good.
    let _ = signal::kill(nix::unistd::Pid::from_raw(raw), signal::SIGTERM);
    tokio::select! {
        ended = child.wait() => Some(ended),
        wish = wishes.wait_for(|wish| *wish == Wish::Kill) => {
            drop(wish);
            None
        }
        () = tokio::time::sleep(STOP_MAX) => {
            tracing::warn!(worker.pid = pid, "a worker does not end; killing it");
            None
        }
    }
}

/// It has no handler for the signal that asks it to end.
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

    fn leave(&self, member: Member) {
        let mut state = self.state();
        state.members.remove(&member);
        self.count.send_replace(state.members.len());
    }

    /// Keeps the reason and returns how long to wait before it is reported; `level` is what the
    /// pool had when the start began.
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
        starts.trouble = Some(Trouble { failures, error, failed_at, next_try_at });
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
        .args(launch.programs.arguments())
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
