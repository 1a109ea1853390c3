//! A running postmaster, a child of ours or one found running: waits for its end, makes it end.
//!
//! Dropping it asks for a fast shutdown, so that a start given up half-way leaves nothing running. An
//! Assay killed outright leaves it running, to be adopted by the next one.

use std::time::Duration;

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::process::Child;

use crate::{folder::Layout, process::is_postmaster};

/// The time between two looks at an adopted postmaster.
const POLL: Duration = Duration::from_millis(50);
/// Fast shutdown writes a checkpoint; a slow disk may need a while for it.
const FAST: Duration = Duration::from_secs(60);
const IMMEDIATE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Postmaster {
    pid: i32,
    /// The process; `None` if an earlier server process started it.
    child: Option<Child>,
    layout: Layout,
    ended: bool,
}

impl Postmaster {
    pub(crate) fn spawned(child: Child, layout: Layout) -> Self {
        let pid = child.id().expect("a child that was not waited for has an id");
        let pid = i32::try_from(pid).expect("process ids fit pid_t");
        Self { pid, child: Some(child), layout, ended: false }
    }

    pub(crate) fn adopted(pid: i32, layout: Layout) -> Self {
        Self { pid, child: None, layout, ended: false }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Returns once the postmaster has ended, with its exit status in words. May be cancelled.
    pub(crate) async fn ended(&mut self) -> String {
        let how = match &mut self.child {
            Some(child) => match child.wait().await {
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            },
            None => {
                while is_postmaster(self.pid, &self.layout) {
                    tokio::time::sleep(POLL).await;
                }
                "gone".to_owned()
            }
        };
        self.ended = true;
        how
    }

    /// Ends the server: sessions are cut, what is committed is kept.
    pub(crate) async fn stop(mut self) {
        for (signal, patience) in [(Signal::SIGINT, FAST), (Signal::SIGQUIT, IMMEDIATE)] {
            self.signal(signal);
            if tokio::time::timeout(patience, self.ended()).await.is_ok() {
                return;
            }
        }
        self.signal(Signal::SIGKILL);
        self.ended().await;
    }

    fn signal(&self, signal: Signal) {
        if !self.ended {
            // It may have ended by itself just now.
            let _ = kill(Pid::from_raw(self.pid), signal);
        }
    }
}

impl Drop for Postmaster {
    fn drop(&mut self) {
        self.signal(Signal::SIGINT);
    }
}
