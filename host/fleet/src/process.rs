//! The launcher `process`: workers are child processes of the server.
//!
//! A task for each worker does the work, from the start of the process until it is reaped.

use std::collections::HashMap;
use std::env;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use assay_core::id::TicketId;
use assay_core::limits;
use nix::sys::signal;
use parking_lot::Mutex;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::launcher::{Events, Launcher, Reconciling, Start, Stop, WorkerEnd, WorkerEvent};
use crate::programs::Programs;

const STOP_MAX: Duration = Duration::from_secs(limits::WORKER_STOP_SECONDS_MAX);

/// The variables that executors of kernels are given.
const DRIVER_VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"];

/// The program and the options with which workers are started.
#[derive(Debug, Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub socket: PathBuf,
    pub cache: PathBuf,
    pub programs: Programs,
}

/// Starts and stops workers as child processes; cheap to clone.
#[derive(Clone)]
pub struct ProcessLauncher {
    launch: Arc<Launch>,
    events: Events,
    /// The strongest call so far to end each worker that has not ended.
    children: Arc<Mutex<HashMap<TicketId, watch::Sender<Option<Stop>>>>>,
}

impl ProcessLauncher {
    #[must_use]
    pub fn new(launch: Launch, events: Events) -> Self {
        Self { launch: Arc::new(launch), events, children: Arc::default() }
    }

    async fn run(self, start: Start, mut stop: watch::Receiver<Option<Stop>>) {
        let ticket = start.ticket.id;
        let given_up = || anyhow::anyhow!("it was given up before it was started");
        let spawned = if stop.borrow().is_none() { self.spawn(&start) } else { Err(given_up()) };
        let how = match spawned {
            Ok(child) => self.watch(ticket, child, &mut stop).await,
            Err(error) => WorkerEnd::NotStarted(format!("{error:#}")),
        };
        self.children.lock().remove(&ticket);
        self.events.send(WorkerEvent::Ended { ticket, how });
    }

    /// Watches a process until it is reaped.
    async fn watch(
        &self,
        ticket: TicketId,
        mut child: Child,
        stop: &mut watch::Receiver<Option<Stop>>,
    ) -> WorkerEnd {
        let pid = child.id().expect("a child that nobody waited for has its id");
        self.events.send(WorkerEvent::Placed { ticket, pid: Some(pid) });
        let ended = tokio::select! {
            ended = child.wait() => Some(ended),
            // The sender lives until this task removes it.
            stop = stop.wait_for(Option::is_some) => {
                drop(stop);
                None
            }
        };
        let ended = match ended {
            None if *stop.borrow() == Some(Stop::Leave) => ask_to_end(&mut child, pid, stop).await,
            ended => ended,
        };
        match ended {
            Some(ended) if was_asked(&ended) => WorkerEnd::Finished(reason(ended)),
            Some(ended) => WorkerEnd::Failed(reason(ended)),
            None => {
                if let Err(error) = child.kill().await {
                    tracing::error!(worker.pid = pid, "a worker cannot be killed: {error}");
                }
                WorkerEnd::Finished("killed".into())
            }
        }
    }

    fn spawn(&self, start: &Start) -> anyhow::Result<Child> {
        let launch = &self.launch;
        Command::new(&launch.program)
            .arg("serve")
            .arg("--connect")
            .arg(&launch.socket)
            .arg("--pool")
            .arg(&*start.pool)
            .arg("--cache")
            .arg(&launch.cache)
            .args(launch.programs.arguments_for(&start.pool))
            // The server's environment may hold secrets, so a worker gets none of it but where the driver of GPUs is, and
            // which GPUs there are to be.
            .env_clear()
            .envs(DRIVER_VARIABLES.into_iter().filter_map(|name| Some((name, env::var_os(name)?))))
            .env("ASSAY_WORKER_TICKET", start.ticket.text())
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("starting {}", launch.program.display()))
    }
}

impl Launcher for ProcessLauncher {
    fn name(&self) -> &'static str {
        "process"
    }

    fn start(&self, starts: Vec<Start>) {
        for start in starts {
            let (stop, stopped) = watch::channel(None);
            self.children.lock().insert(start.ticket.id, stop);
            tokio::spawn(self.clone().run(start, stopped));
        }
    }

    fn stop(&self, ticket: TicketId, how: Stop) {
        if let Some(stop) = self.children.lock().get(&ticket) {
            stop.send_if_modified(|stop| {
                let raised = Some(how) > *stop;
                *stop = Some(how).max(*stop);
                raised
            });
        }
    }

    fn reconcile(&self) -> Reconciling<'_> {
        let children = self.children.lock().keys().copied().collect();
        Box::pin(std::future::ready(Ok(children)))
    }
}

/// Asks the worker to end. Returns how it ended, or `None` if it must be killed.
async fn ask_to_end(
    child: &mut Child,
    pid: u32,
    stop: &mut watch::Receiver<Option<Stop>>,
) -> Option<std::io::Result<ExitStatus>> {
    let raw = i32::try_from(pid).expect("a process id fits");
    // The process may have ended already.
    let _ = signal::kill(nix::unistd::Pid::from_raw(raw), signal::SIGTERM);
    tokio::select! {
        ended = child.wait() => Some(ended),
        stop = stop.wait_for(|stop| *stop > Some(Stop::Leave)) => {
            drop(stop);
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

fn reason(ended: std::io::Result<ExitStatus>) -> String {
    ended.map_or_else(|error| error.to_string(), |status| status.to_string())
}

#[cfg(test)]
mod tests;
