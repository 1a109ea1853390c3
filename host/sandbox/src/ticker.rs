//! Advances the engine's epoch while something runs, so that a guest looks at the clock now and
//! then, and notices when the whole process stood still. Nothing running, it sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use wasmtime::Engine;

/// The longest time that a guest may run past its deadline on an idle machine.
const TICK: Duration = Duration::from_millis(4);
/// A tick that is later than this was held up.
const LATE: Duration = Duration::from_millis(20);
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
    stalls: Arc<Stalls>,
}

/// For how long ticks were held up, which is how long the process stood still: it was stopped, or got no processor.
pub(crate) struct Stalls {
    from: Instant,
    /// The total time of stalls until the last tick, in microseconds.
    sum: AtomicU64,
    /// The time of the last tick, in microseconds after `from`.
    last_tick: AtomicU64,
}

impl Default for Stalls {
    fn default() -> Self {
        Self { from: Instant::now(), sum: AtomicU64::new(0), last_tick: AtomicU64::new(u64::MAX) }
    }
}

impl Stalls {
    /// The sum until `now`, with what the tick that is awaited is late by.
    pub(crate) fn until(&self, now: Instant) -> Duration {
        let last_tick = self.last_tick.load(Ordering::SeqCst);
        let sum = Duration::from_micros(self.sum.load(Ordering::SeqCst));
        sum + late(self.micros(now).saturating_sub(last_tick))
    }

    #[cfg(test)]
    pub(crate) fn add(&self, span: Duration) {
        self.sum.fetch_add(micros(span), Ordering::SeqCst);
    }

    /// A tick, after a sleep of one [`TICK`].
    fn tick(&self) {
        let now = self.micros(Instant::now());
        let since = now.saturating_sub(self.last_tick.load(Ordering::SeqCst));
        self.sum.fetch_add(micros(late(since)), Ordering::SeqCst);
        self.last_tick.store(now, Ordering::SeqCst);
    }

    /// The next tick is one [`TICK`] away.
    fn start(&self) {
        self.last_tick.store(self.micros(Instant::now()), Ordering::SeqCst);
    }

    fn micros(&self, at: Instant) -> u64 {
        micros(at.duration_since(self.from))
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// By how much a tick is late, so many microseconds after the one before.
fn late(since: u64) -> Duration {
    let late = Duration::from_micros(since).saturating_sub(TICK);
    if late > LATE { late } else { Duration::ZERO }
}

/// A call that runs; the epoch advances while one exists.
pub(crate) struct RunningGuard<'a>(&'a TickerState);

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(TickerState::default());
        // The first tick is held up as well where the thread gets no processor at its start.
        shared.stalls.start();
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
                    ticking.stalls.tick();
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
            self.shared.stalls.start();
            self.thread.unpark();
        }
        RunningGuard(&self.shared)
    }

    pub(crate) fn stalls(&self) -> Arc<Stalls> {
        Arc::clone(&self.shared.stalls)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_that_is_held_up_is_noticed_before_and_after_it_came() {
        let stalls = Stalls::default();
        assert_eq!(stalls.until(Instant::now()), Duration::ZERO);
        stalls.start();
        let held_up = Duration::from_secs(3);
        let before = stalls.until(Instant::now() + held_up);
        assert!(before >= held_up - TICK, "{before:?}");
        stalls.last_tick.store(0, Ordering::SeqCst);
        let stalls = Stalls { from: Instant::now() - held_up, ..stalls };
        stalls.tick();
        let after = stalls.until(Instant::now());
        assert!(after >= held_up - TICK, "{after:?}");
    }
}
