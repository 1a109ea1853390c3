//! A warp: the lanes with the lowest program counter run in lockstep, until they diverge or meet others.

use crate::error::FaultKind;
use crate::launch::block::{BlockContext, POISON};
use crate::launch::collective::CollectiveResult;
use crate::launch::copies::PendingCopies;
use crate::limits::{TURN_INSTRUCTIONS, WARP_LANES};
use crate::operand::{CompareTest, Operand, Register, Special, mask};
use crate::program::{BarrierVoteMode, Instruction, Join, Operation, PtxProgram};
use crate::real;

/// A value for each lane.
pub type Lanes = [u64; WARP_LANES];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneState {
    Ready,
    AtBarrier(BarrierWait),
    /// In an instruction that other lanes of the warp must join.
    Parked,
    Exited,
}

/// A thread at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrierWait {
    pub barrier: u64,
    /// The threads that it counts to; all of the block if there is no number.
    pub threads: Option<u64>,
    pub vote: Option<bool>,
}

/// Why a launch ends early.
#[derive(Debug)]
pub enum EarlyEnd {
    Budget,
    Fault { thread: [u32; 3], line: u32, kind: FaultKind },
}

pub struct Warp {
    index: u32,
    /// Positions in the block; a last warp may have fewer than 32.
    threads: Vec<[u32; 3]>,
    registers: Vec<u64>,
    pub(crate) local: Vec<u8>,
    pub(crate) local_bytes: u64,
    counters: [usize; WARP_LANES],
    pub(crate) states: [LaneState; WARP_LANES],
    pub(crate) copies: PendingCopies,
}

/// The set bits, from the lowest.
pub fn lanes(set: u32) -> impl Iterator<Item = usize> {
    let mut left = set;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

impl Warp {
    pub fn new(index: u32, threads: Vec<[u32; 3]>, program: &PtxProgram) -> Warp {
        Warp {
            index,
            threads,
            registers: vec![0; program.registers as usize * WARP_LANES],
            local: vec![0; program.local_bytes as usize * WARP_LANES],
            local_bytes: program.local_bytes,
            counters: [0; WARP_LANES],
            states: [LaneState::Exited; WARP_LANES],
            copies: PendingCopies::default(),
        }
    }

    /// The bytes of the registers and the local memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.registers.as_slice()) + self.local.len()
    }

    pub fn reset(&mut self) {
        self.registers.fill(0);
        self.local.fill(POISON);
        self.copies.reset();
        self.counters = [0; WARP_LANES];
        self.states[..self.threads.len()].fill(LaneState::Ready);
    }

    pub fn is_done(&self) -> bool {
        self.live() == 0
    }

    fn select(&self, choose: impl Fn(usize) -> bool) -> u32 {
        (0..WARP_LANES).filter(|lane| choose(*lane)).fold(0, |set, lane| set | 1 << lane)
    }

    pub fn live(&self) -> u32 {
        self.select(|lane| self.states[lane].is_live())
    }

    pub fn waiting(&self) -> impl Iterator<Item = (usize, BarrierWait)> {
        self.states.iter().enumerate().filter_map(|(lane, state)| match state {
            LaneState::AtBarrier(wait) => Some((lane, *wait)),
            _ => None,
        })
    }

    /// Lets lanes go whose barrier is complete: for those, `complete` gives how many voted there, and how many
    /// of them said yes.
    pub fn release(
        &mut self,
        program: &PtxProgram,
        complete: impl Fn(BarrierWait) -> Option<(u32, u32)>,
    ) {
        for lane in 0..WARP_LANES {
            let LaneState::AtBarrier(wait) = self.states[lane] else { continue };
            let Some((votes, yes)) = complete(wait) else { continue };
            let operation = &program.instructions[self.counters[lane]].operation;
            if let Operation::Barrier { vote: Some(vote), .. } = operation {
                let result = match vote.mode {
                    BarrierVoteMode::Count => u64::from(yes),
                    BarrierVoteMode::All => u64::from(yes == votes),
                    BarrierVoteMode::Any => u64::from(yes > 0),
                };
                self.write(vote.target, lane, result);
            }
            self.states[lane] = LaneState::Ready;
            self.counters[lane] += 1;
        }
    }

    pub fn fault(&self, context: &BlockContext<'_>, lane: usize, kind: FaultKind) -> EarlyEnd {
        let line = context.program.instructions[self.counters[lane]].line;
        EarlyEnd::Fault { thread: self.threads[lane], line, kind }
    }

    /// Runs until nothing is ready or the turn is over; says whether anything ran.
    pub fn turn(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
    ) -> Result<bool, EarlyEnd> {
        let mut left = TURN_INSTRUCTIONS;
        while left > 0 {
            let Some((counter, active)) = self.pick(context) else {
                return Ok(left < TURN_INSTRUCTIONS);
            };
            self.straight(context, shared, counter, active, &mut left)?;
            // The barrier may be complete, and must be passed before it is counted at again.
            if context.arrivals.is_new {
                return Ok(true);
            }
        }
        Ok(true)
    }

    /// The ready lanes with the lowest counter, with those that wait there for them; if none is ready,
    /// lanes that waited for others which have returned since.
    fn pick(&self, context: &BlockContext<'_>) -> Option<(usize, u32)> {
        let ready = self.select(|lane| self.states[lane] == LaneState::Ready);
        let parked = self.select(|lane| self.states[lane] == LaneState::Parked);
        let at = |set: u32, counter: usize| {
            lanes(set).filter(move |lane| self.counters[*lane] == counter)
        };
        let gather = |set: u32, counter| at(set, counter).fold(0, |all, lane| all | 1 << lane);
        if let Some(counter) = lanes(ready).map(|lane| self.counters[lane]).min() {
            return Some((counter, gather(ready | parked, counter)));
        }
        lanes(parked).find_map(|lane| {
            let counter = self.counters[lane];
            let together = gather(parked, counter);
            self.is_complete(context, lane, together).then_some((counter, together))
        })
    }

    fn straight(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        mut counter: usize,
        mut active: u32,
        left: &mut u32,
    ) -> Result<(), EarlyEnd> {
        let program = context.program;
        for lane in lanes(active) {
            self.states[lane] = LaneState::Ready;
        }
        let others = self.select(|lane| self.states[lane] == LaneState::Ready) & !active;
        let meeting = lanes(others).map(|lane| self.counters[lane]).min().unwrap_or(usize::MAX);
        let parked = self.states.contains(&LaneState::Parked);
        let mut first = true;
        loop {
            let instruction = &program.instructions[counter];
            let joins = parked && instruction.operation.members().is_some();
            if !first && (counter >= meeting || joins || *left == 0) {
                self.move_to(active, counter);
                return Ok(());
            }
            first = false;
            *left = left.saturating_sub(1);
            let cost = u64::from(active.count_ones());
            *context.steps_left = context.steps_left.checked_sub(cost).ok_or(EarlyEnd::Budget)?;
            let run = self.guarded(instruction, active);
            match &instruction.operation {
                Operation::Branch { to } if run == active => counter = *to,
                Operation::Branch { to } if run != 0 => {
                    self.move_to(active, counter + 1);
                    self.move_to(run, *to);
                    return Ok(());
                }
                operation if run == 0 || operation.is_of_each_lane() => {
                    let done = self.execute(context, shared, operation, run);
                    done.map_err(|(lane, kind)| {
                        self.move_to(active, counter);
                        self.fault(context, lane, kind)
                    })?;
                    counter += 1;
                }
                operation => {
                    self.move_to(active, counter);
                    let on = self.step(context, shared, operation, counter, [active, run])?;
                    let Some((next, still)) = on else {
                        return Ok(());
                    };
                    (counter, active) = (next, still);
                }
            }
        }
    }

    /// An instruction after which lanes may part, or that costs more than a step: `active` lanes have come, of which
    /// the guard lets `run` do it, at least one. Gives the lanes that go on together and where; none if they have
    /// parted.
    fn step(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        operation: &Operation,
        counter: usize,
        [active, run]: [u32; 2],
    ) -> Result<Option<(usize, u32)>, EarlyEnd> {
        let next = counter + 1;
        match operation {
            Operation::Exit => {
                lanes(run).for_each(|lane| self.states[lane] = LaneState::Exited);
                let active = active & !run;
                return Ok((active != 0).then_some((next, active)));
            }
            Operation::Barrier { barrier, threads, vote } => {
                self.move_to(active & !run, next);
                for lane in lanes(run) {
                    let barrier = self.read(context, *barrier, lane);
                    let threads = threads.map(|threads| self.read(context, threads, lane));
                    let vote = vote.map(|vote| self.read(context, vote.predicate, lane) == 1);
                    let wait = BarrierWait { barrier, threads, vote };
                    self.states[lane] = LaneState::AtBarrier(wait);
                }
                return Ok(None);
            }
            Operation::Arrive { barrier, threads } => {
                context.charge_arrival()?;
                for lane in lanes(run) {
                    let barrier = self.read(context, *barrier, lane);
                    let threads = self.read(context, *threads, lane);
                    context.arrivals.arrive(barrier, threads).map_err(|reason| {
                        self.fault(context, lane, FaultKind::BadBarrier { barrier, reason })
                    })?;
                }
                self.move_to(active, next);
                return Ok(None);
            }
            Operation::Print(call) => {
                for lane in lanes(run) {
                    let cost = self
                        .print(context, shared, *call, lane)
                        .map_err(|kind| self.fault(context, lane, kind))?;
                    context.charge(cost)?;
                }
            }
            operation => {
                context.charge(operation.cost())?;
                let done = match self.collective(context, shared, operation, run) {
                    CollectiveResult::Done(done) => done,
                    CollectiveResult::Fault(lane, kind) => {
                        return Err(self.fault(context, lane, kind));
                    }
                };
                if done != run {
                    self.move_to(active & !run | done, next);
                    lanes(run & !done).for_each(|lane| self.states[lane] = LaneState::Parked);
                    return Ok(None);
                }
            }
        }
        Ok(Some((next, active)))
    }

    pub(crate) fn counter(&self, lane: usize) -> usize {
        self.counters[lane]
    }

    fn move_to(&mut self, set: u32, counter: usize) {
        lanes(set).for_each(|lane| self.counters[lane] = counter);
    }

    fn guarded(&self, instruction: &Instruction, active: u32) -> u32 {
        let Some((slot, negated)) = instruction.guard else {
            return active;
        };
        let values = self.lanes_of(slot).iter().enumerate();
        let holds = values.fold(0, |set, (lane, value)| set | (*value as u32 & 1) << lane);
        active & if negated { !holds } else { holds }
    }

    pub(crate) fn read(&self, context: &BlockContext<'_>, operand: Operand, lane: usize) -> u64 {
        match operand {
            Operand::Register(slot) => self.registers[slot as usize * WARP_LANES + lane],
            Operand::Immediate(value) => value,
            Operand::Not(slot) => self.registers[slot as usize * WARP_LANES + lane] ^ 1,
            Operand::Special(special) => u64::from(self.special(context, special, lane)),
            Operand::Symbol(index) => context.symbols[index],
            Operand::DynamicShared => context.program.static_shared_bytes.next_multiple_of(16),
        }
    }

    pub(crate) fn write(&mut self, target: Register, lane: usize, value: u64) {
        self.registers[target.slot as usize * WARP_LANES + lane] = value & mask(target.bits);
    }

    fn special(&self, context: &BlockContext<'_>, special: Special, lane: usize) -> u32 {
        let threads: u32 = context.launch.block.iter().product();
        match special {
            Special::Thread(axis) => self.threads[lane][axis],
            Special::BlockSize(axis) => context.launch.block[axis],
            Special::Block(axis) => context.index[axis],
            Special::GridSize(axis) => context.launch.grid[axis],
            Special::Lane => lane as u32,
            Special::Warp => self.index,
            Special::Warps => threads.div_ceil(WARP_LANES as u32),
            Special::LanesBelow => (1 << lane) - 1,
            Special::LanesUpTo => u32::MAX >> (31 - lane),
            Special::LanesEqual => 1 << lane,
            Special::LanesFrom => u32::MAX << lane,
            Special::LanesAbove => (u32::MAX << lane) & !(1 << lane),
        }
    }

    pub(crate) fn register(&self, target: Register, lane: usize) -> u64 {
        self.registers[target.slot as usize * WARP_LANES + lane]
    }

    /// The registers of all lanes under one name.
    pub(crate) fn lanes_of(&self, slot: u32) -> &Lanes {
        let start = slot as usize * WARP_LANES;
        let found = self.registers[start..].first_chunk();
        found.expect("each register has a value for every lane")
    }

    pub(crate) fn lanes_of_mut(&mut self, slot: u32) -> &mut Lanes {
        let start = slot as usize * WARP_LANES;
        let found = self.registers[start..].first_chunk_mut();
        found.expect("each register has a value for every lane")
    }

    fn execute(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        operation: &Operation,
        run: u32,
    ) -> Result<(), (usize, FaultKind)> {
        if run == 0 {
            return Ok(());
        }
        match operation {
            Operation::Compute { function, kind, target, sources } => {
                self.compute(context, (*function, *kind), *target, sources, run);
            }
            Operation::Test { test, join, targets, sources } => {
                let [holds, fails] = self.test(context, *test, *join, *sources, run);
                for (target, result) in targets.iter().zip([holds, fails]) {
                    if let Some(target) = target {
                        let values = std::array::from_fn(|lane| u64::from(result >> lane & 1));
                        self.set(*target, run, &values);
                    }
                }
            }
            Operation::Load { address, kind, targets } => {
                self.load(context, shared, *address, *kind, targets, run)?;
            }
            Operation::Store { address, kind, sources } => {
                self.store(context, shared, *address, *kind, sources, run)?;
            }
            Operation::Pack { target, sources, bits } => {
                let mut values = [0; WARP_LANES];
                for (at, source) in sources.iter().enumerate() {
                    let part = self.gather(context, *source);
                    for (value, part) in values.iter_mut().zip(part) {
                        *value |= part << (at as u32 * bits);
                    }
                }
                self.set(*target, run, &values);
            }
            Operation::Unpack { targets, source, bits } => {
                let values = self.gather(context, *source);
                for (at, target) in targets.iter().enumerate() {
                    if let Some(target) = target {
                        let part = values.map(|value| value >> (at as u32 * bits) & mask(*bits));
                        self.set(*target, run, &part);
                    }
                }
            }
            Operation::Set { test, join, target, yes, sources } => {
                for lane in lanes(run) {
                    let value = self.set_by_test(context, *test, *join, *sources, lane);
                    self.write(*target, lane, value & spread(*yes, *test));
                }
            }
            Operation::ActiveLanes { target } => {
                self.set(*target, run, &[u64::from(run); WARP_LANES]);
            }
            Operation::CopyCommit => lanes(run).for_each(|lane| self.copies.commit(lane)),
            Operation::CopyWait { groups } => {
                lanes(run).for_each(|lane| self.copies.wait(lane, *groups, shared));
            }
            Operation::Nothing => {}
            Operation::Trap => {
                if let Some(lane) = lanes(run).next() {
                    return Err((lane, FaultKind::Trap));
                }
            }
            operation => {
                for lane in lanes(run) {
                    self.access(context, shared, operation, lane).map_err(|kind| (lane, kind))?;
                }
            }
        }
        Ok(())
    }

    /// All ones where a test holds; of a pair, in each half.
    fn set_by_test(
        &self,
        context: &BlockContext<'_>,
        test: CompareTest,
        join: Option<(Join, Operand)>,
        sources: [Operand; 2],
        lane: usize,
    ) -> u64 {
        let [a, b] = sources.map(|source| self.read(context, source, lane));
        if test.kind.pair {
            let single = CompareTest { kind: test.kind.single(), ..test };
            let half = |shift: u32| {
                let holds = real::holds(single, (a >> shift) & 0xffff, (b >> shift) & 0xffff);
                if holds { 0xffff << shift } else { 0 }
            };
            return half(0) | half(16);
        }
        let holds = real::holds(test, a, b);
        let holds = match join {
            None => holds,
            Some((join, other)) => join.of(holds, self.read(context, other, lane) == 1),
        };
        if holds { u64::MAX } else { 0 }
    }
}

/// The result of `set` where its test holds, for both halves of a pair.
fn spread(yes: u64, test: CompareTest) -> u64 {
    if test.kind.pair { yes & 0xffff | (yes & 0xffff) << 16 } else { yes }
}
