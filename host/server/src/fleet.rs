//! Worker processes on this machine: started and stopped one by one, on the scheduler's word.
//!
//! The dispatcher asks ([`Fleet`]), a task for each process does it ([`process`]), and a start
//! that came to nothing is reported back after a pause ([`Failures`]). The fleet decides nothing:
//! that a worker is to be replaced is asked for like any other start.
//!
//! ```text
//!             ┌── it ends, does not join in time, cannot be spawned ──> pause ──> reported ──> gone
//!   Starting ─┤
//!             └── joined ──> Joined ── stop: asked to end, then killed ──> gone
//!                              └────── kill, or it ends by itself ───────> gone
//! ```

mod gpu;
mod process;
mod programs;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use assay_model::limits;
use assay_model::time::Micros;
pub use gpu::{Device, Gpu};
pub use programs::{Part, Programs};
use tokio::sync::{mpsc, watch};

/// How workers are started.
#[derive(Debug, Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub socket: PathBuf,
    pub token: String,
    pub cache: PathBuf,
    pub programs: Programs,
}

/// A worker that was started here. Unlike a process id it is never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member(u64);

/// Starts that came to nothing, one entry each, for [`Fleet::start_failed`].
pub type Failures = mpsc::UnboundedReceiver<Member>;

/// Why workers of a pool do not start.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// Since a start went well.
    pub failures: u64,
    pub error: String,
    pub failed_at: Micros,
    pub next_try_at: Micros,
}

/// Starts and stops workers of this machine; cheap to clone.
#[derive(Clone)]
pub struct Fleet {
    launch: Arc<Launch>,
    state: Arc<Mutex<State>>,
    failed: mpsc::UnboundedSender<Member>,
    /// Held from a process's start until its id is known, so that nobody looks for it in between.
    spawning: Arc<tokio::sync::Mutex<()>>,
    /// How many members there are.
    count: Arc<watch::Sender<usize>>,
}

#[derive(Default)]
struct State {
    last: u64,
    /// Until their process is gone.
    members: BTreeMap<Member, Entry>,
    /// Of the processes that were not reaped yet: until then an id is no other program's.
    pids: HashMap<u32, Member>,
    pools: HashMap<Arc<str>, Starts>,
    stopping: bool,
}

struct Entry {
    pool: Arc<str>,
    asked: Instant,
    wish: watch::Sender<Wish>,
}

/// What is to become of a member; it only ever goes on in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    Join,
    Stay,
    Stop,
    Kill,
}

/// How starts of a pool went lately.
#[derive(Default)]
struct Starts {
    /// How often in a row they failed. Those that fail together count as one.
    level: u32,
    trouble: Option<Trouble>,
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

    /// Each of these joins, is reported as failed, or is given up by [`Fleet::cancel`].
    pub fn start(&self, pool: &Arc<str>, count: usize) {
        let mut state = self.state();
        if state.stopping {
            return;
        }
        for _ in 0..count {
            state.last += 1;
            let member = Member(state.last);
            let wish = watch::Sender::new(Wish::Join);
            let entry = Entry { pool: Arc::clone(pool), asked: Instant::now(), wish };
            let wishes = entry.wish.subscribe();
            state.members.insert(member, entry);
            tokio::spawn(process::run(self.clone(), member, Arc::clone(pool), wishes));
        }
        self.count.send_replace(state.members.len());
    }

    /// Gives up the latest starts of the pool that have not joined; nothing is reported of them.
    pub fn cancel(&self, pool: &Arc<str>, count: usize) {
        let state = self.state();
        let starting = state
            .members
            .values()
            .rev()
            .filter(|entry| entry.pool == *pool && *entry.wish.borrow() == Wish::Join);
        starting.take(count).for_each(|entry| entry.raise(Wish::Kill));
    }

    /// Who has this process id, among those started here.
    pub async fn find(&self, pid: u32) -> Option<Member> {
        let _known = self.spawning.lock().await;
        self.state().pids.get(&pid).copied()
    }

    /// Its start went well; false when it was given up before.
    #[must_use]
    pub fn joined(&self, member: Member) -> bool {
        let mut state = self.state();
        let Some(entry) = state.members.get(&member) else { return false };
        if *entry.wish.borrow() != Wish::Join {
            return false;
        }
        entry.raise(Wish::Stay);
        let pool = Arc::clone(&entry.pool);
        let took = entry.asked.elapsed().as_secs_f64();
        metrics::histogram!("assay_worker_start_seconds", "pool" => pool.to_string()).record(took);
        state.pools.remove(&pool);
        true
    }

    /// Its start came to nothing: returns the pool that lacks it, `None` when it was given up after
    /// it was reported.
    #[must_use]
    pub fn start_failed(&self, member: Member) -> Option<Arc<str>> {
        let state = self.state();
        let entry = state.members.get(&member).filter(|it| *it.wish.borrow() == Wish::Join)?;
        entry.raise(Wish::Kill);
        Some(Arc::clone(&entry.pool))
    }

    /// All workers are going, because the host is.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.state().stopping
    }

    /// Asks it to end, and kills it when it does not.
    pub fn stop(&self, member: Member) {
        self.wish(member, Wish::Stop);
    }

    /// Kills it at once.
    pub fn kill(&self, member: Member) {
        self.wish(member, Wish::Kill);
    }

    /// The pools whose last start failed.
    #[must_use]
    pub fn troubles(&self) -> BTreeMap<Arc<str>, Trouble> {
        let state = self.state();
        let troubles = state.pools.iter();
        troubles
            .filter_map(|(pool, starts)| Some((Arc::clone(pool), starts.trouble.clone()?)))
            .collect()
    }

    /// Starts under way: the pool, and when each was asked for; the earliest first.
    #[must_use]
    pub fn starting(&self) -> Vec<(Arc<str>, Micros)> {
        let now = Micros::from_datetime(time::OffsetDateTime::now_utc());
        let state = self.state();
        let starting = state.members.values().filter(|entry| *entry.wish.borrow() == Wish::Join);
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
            state.members.values().for_each(|entry| entry.raise(Wish::Stop));
        }
        // The sender lives as long as the fleet.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    fn wish(&self, member: Member, wish: Wish) {
        // Gone already is as good.
        if let Some(entry) = self.state().members.get(&member) {
            entry.raise(wish);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn raise(&self, wish: Wish) {
        self.wish.send_if_modified(|now| {
            let raised = wish > *now;
            *now = wish.max(*now);
            raised
        });
    }
}

/// How long the next try waits after so many failures in a row.
fn pause(level: u32) -> std::time::Duration {
    let doubled = limits::WORKER_RETRY_MS_MIN << level.saturating_sub(1).min(32);
    std::time::Duration::from_millis(doubled.min(limits::WORKER_RETRY_MS_MAX))
}

#[cfg(test)]
mod tests;
