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
use crate::limits::{BARRIERS_MAX, WARP_LANES};
use crate::memory::Memory;
use crate::program::PtxProgram;
use crate::warp::{EarlyEnd, LaneState, Warp};

/// The value of a byte of shared or local memory that was not written.
pub const POISON: u8 = 0xff;

/// The data that all warps of a block share.
pub struct BlockContext<'c> {
    pub program: &'c PtxProgram,
    pub launch: &'c GridLaunch,
    pub params: &'c mut [u8],
    pub symbols: &'c [u64],
    pub memory: &'c mut Memory,
    pub steps_left: &'c mut u64,
    pub index: [u32; 3],
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
                progress |= self.warps[at].turn(context, &mut self.shared)?;
                // At once: a barrier that counts one warp must be free before the next one comes.
                if self.warps[at].waiting().next().is_some() {
                    progress |= self.release(context)?;
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

    /// As new. What this costs is paid for, or empty blocks with many registers would be free.
    fn reset(&mut self, context: &mut BlockContext<'_>) -> Result<(), EarlyEnd> {
        let bytes = self.shared.len() + self.warps.iter().map(Warp::bytes).sum::<usize>();
        let left = context.steps_left.checked_sub(bytes as u64 / 1024);
        *context.steps_left = left.ok_or(EarlyEnd::Budget)?;
        self.shared.fill(POISON);
        self.warps.iter_mut().for_each(Warp::reset);
        Ok(())
    }

    /// Passes every barrier that is complete; says whether there was one.
    fn release(&mut self, context: &BlockContext<'_>) -> Result<bool, EarlyEnd> {
        let live: u64 = self.warps.iter().map(|warp| u64::from(warp.live().count_ones())).sum();
        let mut arrived = [0u64; BARRIERS_MAX as usize];
        let mut expected = [None; BARRIERS_MAX as usize];
        for warp in &self.warps {
            for (lane, barrier, threads) in warp.waiting() {
                let bad =
                    |reason| warp.fault(context, lane, FaultKind::BadBarrier { barrier, reason });
                if barrier >= BARRIERS_MAX {
                    return Err(bad("there are 16"));
                }
                let lanes = WARP_LANES as u64;
                if threads.is_some_and(|threads| threads == 0 || !threads.is_multiple_of(lanes)) {
                    return Err(bad("its count of threads is not a multiple of a warp"));
                }
                let (arrived, expected) =
                    (&mut arrived[barrier as usize], &mut expected[barrier as usize]);
                *arrived += 1;
                let threads = threads.unwrap_or(live);
                if *expected.get_or_insert(threads) != threads {
                    return Err(bad("its threads count differently"));
                }
                if *arrived > threads {
                    return Err(bad("more threads have come than it counts"));
                }
            }
        }
        let complete = |barrier: usize| expected[barrier] == Some(arrived[barrier]);
        for warp in &mut self.warps {
            warp.release(|barrier| complete(barrier as usize));
        }
        Ok((0..BARRIERS_MAX as usize).any(complete))
    }

    /// No warp can go on: the first thread that waits says for what.
    fn stuck(&self, context: &BlockContext<'_>) -> EarlyEnd {
        let parked = self.warps.iter().find_map(|warp| warp.lanes_missing(context));
        let waiting = || {
            let waits =
                |warp: &Warp| warp.waiting().next().map(|(lane, barrier, _)| (lane, barrier));
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
