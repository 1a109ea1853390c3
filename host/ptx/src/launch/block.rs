//! A block: its warps take turns, its barriers are passed when all of their threads have come.
//!
//! ```text
//!          bar.sync              all came
//!  Ready ------------> AtBarrier ---------> Ready
//!    |  ret
//!    +------> Exited        Parked: waits in `*.sync` for other lanes of its warp (see `warp`)
//! ```

use crate::error::FaultKind;
use crate::launch::GridLaunch;
use crate::launch::warp::{EarlyEnd, LaneState, Warp};
use crate::limits::{BARRIERS_MAX, WARP_LANES};
use crate::memory::Memory;
use crate::program::PtxProgram;

/// The value of a byte of shared or local memory that was not written.
pub const POISON: u8 = 0xff;

/// The threads that a step looks at where barriers are counted.
const THREADS_PER_STEP: u64 = 16;

/// The data that all warps of a block share.
pub struct BlockContext<'c> {
    pub program: &'c PtxProgram,
    pub launch: &'c GridLaunch,
    pub params: &'c mut [u8],
    pub symbols: &'c [u64],
    pub memory: &'c mut Memory,
    pub steps_left: &'c mut u64,
    pub index: [u32; 3],
    pub arrivals: BarrierArrivals,
}

impl BlockContext<'_> {
    /// Charges for an arrival: it ends the turn of its warp, and all threads of the block are looked at. A loop of
    /// one lane would else be as good as free.
    pub fn charge_arrival(&mut self) -> Result<(), EarlyEnd> {
        let threads: u32 = self.launch.block.iter().product();
        self.charge(u64::from(threads) / THREADS_PER_STEP)
    }

    pub fn charge(&mut self, steps: u64) -> Result<(), EarlyEnd> {
        *self.steps_left = self.steps_left.checked_sub(steps).ok_or(EarlyEnd::Budget)?;
        Ok(())
    }
}

/// Threads that counted at a barrier and went on, with what they count to.
#[derive(Debug, Default, Clone, Copy)]
pub struct BarrierArrivals {
    barriers: [(u64, u64); BARRIERS_MAX as usize],
    /// Whether one came since barriers were looked at.
    pub is_new: bool,
}

impl BarrierArrivals {
    pub fn arrive(&mut self, barrier: u64, threads: u64) -> Result<(), &'static str> {
        let place = self.barriers.get_mut(barrier as usize).filter(|_| barrier < BARRIERS_MAX);
        let (arrived, expected) = place.ok_or(TOO_MANY_BARRIERS)?;
        if threads == 0 || !threads.is_multiple_of(WARP_LANES as u64) {
            return Err(NOT_WARPS);
        }
        if *arrived > 0 && *expected != threads {
            return Err(COUNTS_DIFFER);
        }
        (*arrived, *expected) = (*arrived + 1, threads);
        self.is_new = true;
        Ok(())
    }
}

const TOO_MANY_BARRIERS: &str = "there are 16";
const NOT_WARPS: &str = "its count of threads is not a multiple of a warp";
const COUNTS_DIFFER: &str = "its threads count differently";

/// The threads that have come to a barrier.
#[derive(Default, Clone, Copy)]
struct BarrierCount {
    arrived: u64,
    expected: Option<u64>,
    votes: u32,
    yes: u32,
}

impl BarrierCount {
    fn is_complete(self) -> bool {
        self.expected == Some(self.arrived)
    }
}

pub struct ThreadBlock {
    warps: Vec<Warp>,
    shared: Vec<u8>,
}

impl ThreadBlock {
    pub fn new(program: &PtxProgram, launch: &GridLaunch) -> ThreadBlock {
        let [x, y, _] = launch.block;
        let threads: u32 = launch.block.iter().product();
        let position = |thread: u32| [thread % x, thread / x % y, thread / (x * y)];
        let lanes = WARP_LANES as u32;
        let warp = |index: u32| {
            let first = index * lanes;
            let threads = (first..threads.min(first + lanes)).map(position).collect();
            Warp::new(index, threads, program)
        };
        let shared = program.static_shared_bytes.next_multiple_of(16) + launch.dynamic_shared_bytes;
        ThreadBlock {
            warps: (0..threads.div_ceil(lanes)).map(warp).collect(),
            shared: vec![0; shared as usize],
        }
    }

    /// Runs one block of the grid from its beginning to its end.
    pub fn run(&mut self, context: &mut BlockContext<'_>) -> Result<(), EarlyEnd> {
        self.reset(context)?;
        loop {
            let mut progress = false;
            for at in 0..self.warps.len() {
                if !self.warps[at].turn(context, &mut self.shared)? {
                    continue;
                }
                progress = true;
                // At once: a barrier that counts one warp must be free before the next one comes.
                if context.arrivals.is_new || self.warps[at].waiting().next().is_some() {
                    self.release(context)?;
                }
            }
            // The last one waited for may have returned instead.
            progress |= self.release(context)?;
            if self.warps.iter().all(Warp::is_done) {
                return Ok(());
            }
            if !progress {
                return Err(self.stuck(context));
            }
        }
    }

    /// Resets the block to its initial state. This costs steps, or empty blocks with many registers would be free.
    fn reset(&mut self, context: &mut BlockContext<'_>) -> Result<(), EarlyEnd> {
        let bytes = self.shared.len() + self.warps.iter().map(Warp::bytes).sum::<usize>();
        let left = context.steps_left.checked_sub(bytes as u64 / 1024);
        *context.steps_left = left.ok_or(EarlyEnd::Budget)?;
        self.shared.fill(POISON);
        self.warps.iter_mut().for_each(Warp::reset);
        Ok(())
    }

    /// Passes every barrier that is complete; says whether there was one.
    fn release(&mut self, context: &mut BlockContext<'_>) -> Result<bool, EarlyEnd> {
        let live: u64 = self.warps.iter().map(|warp| u64::from(warp.live().count_ones())).sum();
        context.arrivals.is_new = false;
        let mut counts = context.arrivals.barriers.map(|(arrived, expected)| BarrierCount {
            arrived,
            expected: (arrived > 0).then_some(expected),
            ..BarrierCount::default()
        });
        for warp in &self.warps {
            for (lane, wait) in warp.waiting() {
                let barrier = wait.barrier;
                let bad =
                    |reason| warp.fault(context, lane, FaultKind::BadBarrier { barrier, reason });
                if barrier >= BARRIERS_MAX {
                    return Err(bad(TOO_MANY_BARRIERS));
                }
                let lanes = WARP_LANES as u64;
                let counted = wait.threads;
                if counted.is_some_and(|threads| threads == 0 || !threads.is_multiple_of(lanes)) {
                    return Err(bad(NOT_WARPS));
                }
                let count = &mut counts[barrier as usize];
                count.arrived += 1;
                count.votes += u32::from(wait.vote.is_some());
                count.yes += u32::from(wait.vote == Some(true));
                let threads = counted.unwrap_or(live);
                if *count.expected.get_or_insert(threads) != threads {
                    return Err(bad(COUNTS_DIFFER));
                }
                if count.arrived > threads {
                    return Err(bad("more threads have come than it counts"));
                }
            }
        }
        for (place, count) in context.arrivals.barriers.iter_mut().zip(counts) {
            if count.is_complete() {
                *place = (0, 0);
            }
        }
        for warp in &mut self.warps {
            warp.release(context.program, |wait| {
                let count = counts[wait.barrier as usize];
                count.is_complete().then_some((count.votes, count.yes))
            });
        }
        Ok(counts.into_iter().any(BarrierCount::is_complete))
    }

    /// No warp can go on: the first thread that waits says for what.
    fn stuck(&self, context: &BlockContext<'_>) -> EarlyEnd {
        let parked = self.warps.iter().find_map(|warp| warp.lanes_missing(context));
        let waiting = || {
            let waits =
                |warp: &Warp| warp.waiting().next().map(|(lane, wait)| (lane, wait.barrier));
            let (warp, (lane, barrier)) =
                self.warps.iter().find_map(|warp| Some((warp, waits(warp)?)))?;
            Some(warp.fault(context, lane, FaultKind::BarrierStuck { barrier }))
        };
        parked.or_else(waiting).expect("a warp without a ready lane has one that waits")
    }
}

impl LaneState {
    pub fn is_live(self) -> bool {
        self != LaneState::Exited
    }
}
