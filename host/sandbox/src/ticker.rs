//! Advances the engine's epoch while something runs, so that a guest looks at the clock now and
//! then. Nothing running, it sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use wasmtime::Engine;

/// How far past its deadline a guest may run, at most, on an idle machine.
const TICK: Duration = Duration::from_millis(4);
/// A worker between two calls keeps its ticker awake for so long: waking it costs more.
const IDLE_TICKS: u32 = 25;

pub(crate) struct Ticker {
    shared: Arc<TickerState>,
    thread: Thread,
    joined: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct TickerState {
    running: AtomicU64,
    started: AtomicU64,
    asleep: AtomicBool,
    ended: AtomicBool,
}

/// A call that runs; the epoch advances while one exists.
pub(crate) struct RunningGuard<'a>(&'a TickerState);

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(TickerState::default());
        let ticking = Arc::clone(&shared);
        let engine = engine.weak();
        let joined = thread::Builder::new().name("ticker".into()).spawn(move || {
            let mut seen = 0;
            let mut idle = 0;
            while !ticking.ended.load(Ordering::SeqCst) {
                if ticking.idle_since(&mut seen) {
                    idle += 1;
                } else {
                    idle = 0;
                }
                if idle > IDLE_TICKS {
                    ticking.sleep();
                    idle = 0;
                } else {
                    thread::sleep(TICK);
                }
                let Some(engine) = engine.upgrade() else { return };
                engine.increment_epoch();
            }
        })?;
        let thread = joined.thread().clone();
        Ok(Self { shared, thread, joined: Some(joined) })
    }

    pub(crate) fn running(&self) -> RunningGuard<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        self.shared.started.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        RunningGuard(&self.shared)
    }
}

impl TickerState {
    /// Whether nothing runs and nothing ran since the last look.
    fn idle_since(&self, seen: &mut u64) -> bool {
        let started = self.started.load(Ordering::SeqCst);
        let ran = started != *seen;
        *seen = started;
        !ran && self.running.load(Ordering::SeqCst) == 0
    }

    /// Waits for a call. A caller first counts its call and then reads `asleep`; this function sets `asleep` and then reads
    /// the count, so that one of the two notices the other.
    fn sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
        while self.running.load(Ordering::SeqCst) == 0 && !self.ended.load(Ordering::SeqCst) {
            thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        self.thread.unpark();
        if let Some(joined) = self.joined.take() {
            joined.join().expect("the ticker never panics");
        }
    }
}
