//! Virtual time: it stands still while any task can go on, and then jumps to the next timer.
//!
//! Everything runs on one thread, and what is due at the same time is woken in an order that the seed decides.
//! So the same seed gives the same run, as long as the tasks take randomness from [`random`] alone and iterate over
//! no hash maps. The runtime has no timers and no sockets of its own: a task that asks for them panics.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Duration;

use assay_core::time::Micros;

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

struct World {
    now: Micros,
    random: u64,
    /// By time and, among those that are due together, by a random number; the last number makes keys unique.
    timers: BTreeMap<(Micros, u64, u64), Option<Waker>>,
    made: u64,
}

impl World {
    /// The next number of the generator SplitMix64.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Ends virtual time on this thread, also when the simulation panics.
struct SimulationEnd;

impl Drop for SimulationEnd {
    fn drop(&mut self) {
        let world = WORLD.with_borrow_mut(Option::take);
        // Outside the borrow: a waker may drop a task, whose timers are gone with the world.
        drop(world);
    }
}

/// Runs a future and the tasks that it spawns in virtual time from `start` on, on this thread.
///
/// # Panics
///
/// If there is nothing left to wait for before the future has ended.
pub fn run<T>(seed: u64, start: Micros, future: impl Future<Output = T>) -> T {
    let world = World { now: start, random: seed, timers: BTreeMap::new(), made: 0 };
    let before = WORLD.replace(Some(world));
    assert!(before.is_none(), "one simulation at a time on a thread");
    // After the runtime, so that tasks are dropped in virtual time.
    let ended = SimulationEnd;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .on_thread_park(to_next_timer)
        .build()
        .expect("a runtime without sockets and timers needs nothing");
    let output = runtime.block_on(future);
    drop(runtime);
    drop(ended);
    output
}

/// Nothing can go on at this time.
fn to_next_timer() {
    let waker = WORLD.with_borrow_mut(|world| {
        let world = world.as_mut()?;
        let entry = world.timers.pop_first();
        let ((at, _, _), waker) = entry.expect("the simulation waits for nothing");
        world.now = world.now.max(at);
        waker
    });
    waker.into_iter().for_each(Waker::wake);
}

/// The virtual time; `None` outside a simulation.
pub(crate) fn now() -> Option<Micros> {
    WORLD.with_borrow(|world| world.as_ref().map(|world| world.now))
}

/// The next random number of this simulation.
///
/// # Panics
///
/// Outside a simulation.
#[must_use]
pub fn random() -> u64 {
    WORLD.with_borrow_mut(|world| world.as_mut().expect("a simulation runs").random())
}

/// A timer; `None` outside a simulation.
pub(crate) fn sleep(span: Duration) -> Option<impl Future<Output = ()>> {
    let key = WORLD.with_borrow_mut(|world| {
        let world = world.as_mut()?;
        let micros = u64::try_from(span.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX);
        world.made += 1;
        let key = (world.now + Micros(micros), world.random(), world.made);
        world.timers.insert(key, None);
        Some(key)
    })?;
    Some(Timer { key }.due())
}

struct Timer {
    key: (Micros, u64, u64),
}

impl Timer {
    /// The timer is gone from the world once it has woken its task.
    async fn due(self) {
        poll_fn(|context| {
            WORLD.with_borrow_mut(|world| {
                match world.as_mut().and_then(|world| world.timers.get_mut(&self.key)) {
                    None => Poll::Ready(()),
                    Some(waker) => {
                        *waker = Some(context.waker().clone());
                        Poll::Pending
                    }
                }
            })
        })
        .await;
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let waker = WORLD
            .with_borrow_mut(|world| world.as_mut().and_then(|it| it.timers.remove(&self.key)));
        // Outside the borrow, because the last waker of a task drops it.
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    const START: Micros = Micros::from_secs(1_000);

    /// The order in which ten tasks end that sleep equally long.
    fn order(seed: u64) -> (Vec<u32>, Micros) {
        run(seed, START, async {
            let ended = Arc::new(Mutex::new(Vec::new()));
            for task in 0..10 {
                let ended = Arc::clone(&ended);
                tokio::spawn(async move {
                    crate::sleep(Duration::from_secs(3_600)).await;
                    ended.lock().expect("no panics").push(task);
                });
            }
            crate::sleep(Duration::from_secs(3_601)).await;
            let ended = ended.lock().expect("no panics").clone();
            (ended, crate::now())
        })
    }

    #[test]
    fn time_jumps_and_the_seed_decides_what_comes_first() {
        let (first, at) = order(1);
        assert_eq!(at, START + Micros::from_secs(3_601));
        assert_eq!(first.len(), 10);
        assert_eq!(order(1).0, first);
        assert_ne!(order(2).0, first);
        assert!(now().is_none(), "time is virtual in a simulation alone");
    }

    #[test]
    fn a_timer_that_is_dropped_wakes_nobody() {
        let at = run(1, START, async {
            let first = crate::sleep(Duration::from_secs(1));
            let second = crate::sleep(Duration::from_secs(2));
            tokio::select! {
                () = first => {}
                () = second => {}
            }
            crate::sleep(Duration::from_micros(1)).await;
            crate::now()
        });
        assert_eq!(at, START + Micros(1_000_001));
    }
}
