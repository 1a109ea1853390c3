//! The worker processes of the fleet and the desired state of each; [`crate::process`] brings it about.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use assay_core::limits;
use assay_core::time::Micros;
use tokio::sync::{mpsc, watch};

use crate::process;
use crate::programs::Programs;

/// The program and the options with which workers are started.
#[derive(Debug, Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub socket: PathBuf,
    pub token: String,
    pub cache: PathBuf,
    pub programs: Programs,
}

/// The id of a worker process that was started here. Unlike the system's process id it is never
/// reused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(u64);

/// Failed starts, one entry each, for [`Fleet::start_failed`].
pub type Failures = mpsc::UnboundedReceiver<ProcessId>;

/// Why the last starts of a pool's workers failed.
#[derive(Debug, Clone)]
pub struct StartFailure {
    /// The number of failures since the last success.
    pub failures: u64,
    pub error: String,
    pub failed_at: Micros,
    pub next_try_at: Micros,
}

/// Starts and stops workers of this machine; cheap to clone.
#[derive(Clone)]
pub struct Fleet {
    pub(crate) launch: Arc<Launch>,
    state: Arc<Mutex<State>>,
    pub(crate) failed: mpsc::UnboundedSender<ProcessId>,
    /// Locked from a process's start until its id is recorded, so that [`Fleet::find`] cannot miss it.
    pub(crate) spawning: Arc<tokio::sync::Mutex<()>>,
    /// The number of processes.
    pub(crate) count: Arc<watch::Sender<usize>>,
}

#[derive(Default)]
pub(crate) struct State {
    last: u64,
    /// Processes that have not ended.
    pub processes: BTreeMap<ProcessId, Entry>,
    /// Ids of processes that were not reaped yet; until then the system reuses none of them.
    pub pids: HashMap<u32, ProcessId>,
    pub pools: HashMap<Arc<str>, Starts>,
    stopping: bool,
}

pub(crate) struct Entry {
    pool: Arc<str>,
    asked: Instant,
    desired: watch::Sender<DesiredState>,
}

/// The desired state of a process; it only moves forward, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DesiredState {
    Join,
    Stay,
    Stop,
    Kill,
}

/// The results of a pool's last starts.
#[derive(Default)]
pub(crate) struct Starts {
    /// The number of failures in a row; starts that fail together count once.
    pub level: u32,
    pub trouble: Option<StartFailure>,
}

impl Fleet {
    #[must_use]
    pub fn new(launch: Launch) -> (Self, Failures) {
        let (failed, failures) = mpsc::unbounded_channel();
        let fleet = Self {
            launch: Arc::new(launch),
            state: Arc::default(),
            failed,
            spawning: Arc::default(),
            count: Arc::new(watch::Sender::new(0)),
        };
        (fleet, failures)
    }

    /// Starts workers. Each one joins, is reported as failed, or is given up by [`Fleet::cancel`].
    pub fn start(&self, pool: &Arc<str>, count: usize) {
        let mut state = self.state();
        if state.stopping {
            return;
        }
        for _ in 0..count {
            state.last += 1;
            let process = ProcessId(state.last);
            let desired = watch::Sender::new(DesiredState::Join);
            let entry = Entry { pool: Arc::clone(pool), asked: Instant::now(), desired };
            let desired = entry.desired.subscribe();
            state.processes.insert(process, entry);
            tokio::spawn(process::run(self.clone(), process, Arc::clone(pool), desired));
        }
        self.count.send_replace(state.processes.len());
    }

    /// Gives up the pool's latest starts that have not joined; they are not reported as failed.
    pub fn cancel(&self, pool: &Arc<str>, count: usize) {
        let state = self.state();
        let starting =
            state.processes.values().rev().filter(|entry| {
                entry.pool == *pool && *entry.desired.borrow() == DesiredState::Join
            });
        starting.take(count).for_each(|entry| entry.raise(DesiredState::Kill));
    }

    /// The worker process with this system process id, if it was started here.
    pub async fn find(&self, pid: u32) -> Option<ProcessId> {
        let _known = self.spawning.lock().await;
        self.state().pids.get(&pid).copied()
    }

    /// The worker joined; returns false if its start was given up before.
    #[must_use]
    pub fn joined(&self, process: ProcessId) -> bool {
        let mut state = self.state();
        let Some(entry) = state.processes.get(&process) else { return false };
        if *entry.desired.borrow() != DesiredState::Join {
            return false;
        }
        entry.raise(DesiredState::Stay);
        let pool = Arc::clone(&entry.pool);
        let took = entry.asked.elapsed().as_secs_f64();
        metrics::histogram!("assay_worker_start_seconds", "pool" => pool.to_string()).record(took);
        state.pools.remove(&pool);
        true
    }

    /// Its start failed: returns its pool, or `None` if the start was given up after the report.
    #[must_use]
    pub fn start_failed(&self, process: ProcessId) -> Option<Arc<str>> {
        let state = self.state();
        let entry = state
            .processes
            .get(&process)
            .filter(|it| *it.desired.borrow() == DesiredState::Join)?;
        entry.raise(DesiredState::Kill);
        Some(Arc::clone(&entry.pool))
    }

    /// Whether all workers are being stopped, because the server is stopping.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.state().stopping
    }

    /// Asks the worker to end, and kills it if it does not end in time.
    pub fn stop(&self, process: ProcessId) {
        self.desire(process, DesiredState::Stop);
    }

    /// Kills the worker at once.
    pub fn kill(&self, process: ProcessId) {
        self.desire(process, DesiredState::Kill);
    }

    /// The pools whose last start failed.
    #[must_use]
    pub fn troubles(&self) -> BTreeMap<Arc<str>, StartFailure> {
        let state = self.state();
        let troubles = state.pools.iter();
        troubles
            .filter_map(|(pool, starts)| Some((Arc::clone(pool), starts.trouble.clone()?)))
            .collect()
    }

    /// Starts under way: pool and time of the request for each, the earliest first.
    #[must_use]
    pub fn starting(&self) -> Vec<(Arc<str>, Micros)> {
        let now = Micros::from_datetime(time::OffsetDateTime::now_utc());
        let state = self.state();
        let starting =
            state.processes.values().filter(|entry| *entry.desired.borrow() == DesiredState::Join);
        let asked = starting.map(|entry| {
            let ago = Micros(entry.asked.elapsed().as_micros().try_into().unwrap_or(u64::MAX));
            (Arc::clone(&entry.pool), now - ago)
        });
        asked.collect()
    }

    /// Asks every worker to end, waits until they have, and starts no more.
    pub async fn stop_all(&self) {
        let mut count = self.count.subscribe();
        {
            let mut state = self.state();
            state.stopping = true;
            state.processes.values().for_each(|entry| entry.raise(DesiredState::Stop));
        }
        // The sender lives as long as the fleet.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    fn desire(&self, process: ProcessId, desired: DesiredState) {
        // If the process has ended, there is nothing to do.
        if let Some(entry) = self.state().processes.get(&process) {
            entry.raise(desired);
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn raise(&self, desired: DesiredState) {
        self.desired.send_if_modified(|now| {
            let raised = desired > *now;
            *now = desired.max(*now);
            raised
        });
    }
}

/// The pause before the next start after `level` failures in a row.
pub(crate) fn pause(level: u32) -> std::time::Duration {
    let doubled = limits::WORKER_RETRY_MS_MIN << level.saturating_sub(1).min(32);
    std::time::Duration::from_millis(doubled.min(limits::WORKER_RETRY_MS_MAX))
}

#[cfg(test)]
mod tests;
