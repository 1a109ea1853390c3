//! A warp: the lanes with the lowest program counter run in lockstep, until they diverge or meet others.

use crate::block::{BlockContext, POISON};
use crate::collective::CollectiveResult;
use crate::convert::{convert, convert_pair};
use crate::error::FaultKind;
use crate::integer;
use crate::limits::{TURN_INSTRUCTIONS, WARP_LANES};
use crate::program::{
    CompareTest, Instruction, Join, Operand, Operation, PtxProgram, Register, Special, Type,
    ValueFunction, mask,
};
use crate::real;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneState {
    Ready,
    AtBarrier {
        barrier: u64,
        threads: Option<u64>,
    },
    /// In an instruction that other lanes of the warp must join.
    Parked,
    Exited,
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
        }
    }

    /// The bytes of the registers and the local memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.registers.as_slice()) + self.local.len()
    }

    pub fn reset(&mut self) {
        self.registers.fill(0);
        self.local.fill(POISON);
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

    pub fn waiting(&self) -> impl Iterator<Item = (usize, u64, Option<u64>)> {
        self.states.iter().enumerate().filter_map(|(lane, state)| match state {
            LaneState::AtBarrier { barrier, threads } => Some((lane, *barrier, *threads)),
            _ => None,
        })
    }

    pub fn release(&mut self, complete: impl Fn(u64) -> bool) {
        for (state, counter) in self.states.iter_mut().zip(&mut self.counters) {
            if matches!(state, LaneState::AtBarrier { barrier, .. } if complete(*barrier)) {
                *state = LaneState::Ready;
                *counter += 1;
            }
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
            self.move_to(active, counter);
            let on = self.step(context, shared, &instruction.operation, counter, [active, run])?;
            let Some((next, still)) = on else {
                return Ok(());
            };
            (counter, active) = (next, still);
        }
    }

    /// One instruction: `active` lanes have come, of which the guard lets `run` do it. Gives the lanes that
    /// go on together and where; none if they have parted.
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
            Operation::Branch { to } if run == active => return Ok(Some((*to, active))),
            Operation::Branch { to } if run != 0 => {
                self.move_to(active, next);
                self.move_to(run, *to);
                return Ok(None);
            }
            Operation::Exit => {
                lanes(run).for_each(|lane| self.states[lane] = LaneState::Exited);
                let active = active & !run;
                return Ok((active != 0).then_some((next, active)));
            }
            Operation::Barrier { barrier, threads } if run != 0 => {
                self.move_to(active & !run, next);
                for lane in lanes(run) {
                    let barrier = self.read(context, *barrier, lane);
                    let threads = threads.map(|threads| self.read(context, threads, lane));
                    self.states[lane] = LaneState::AtBarrier { barrier, threads };
                }
                return Ok(None);
            }
            operation if operation.members().is_some() && run != 0 => {
                let done = match self.collective(context, operation, run) {
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
            operation => self
                .execute(context, shared, operation, run)
                .map_err(|(lane, kind)| self.fault(context, lane, kind))?,
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
        let lowest = slot as usize * WARP_LANES;
        let holds = |lane: &usize| (self.registers[lowest + lane] == 1) != negated;
        lanes(active).filter(holds).fold(0, |set, lane| set | 1 << lane)
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

    fn execute(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        operation: &Operation,
        run: u32,
    ) -> Result<(), (usize, FaultKind)> {
        for lane in lanes(run) {
            match operation {
                Operation::Compute { function, kind, target, sources } => {
                    let values = sources.map(|source| self.read(context, source, lane));
                    self.write(*target, lane, compute(*function, *kind, values));
                }
                Operation::Test { test, join, targets, sources } => {
                    let results = self.test(context, *test, *join, *sources, lane);
                    for (target, result) in targets.iter().zip(results) {
                        if let Some(target) = target {
                            self.write(*target, lane, u64::from(result));
                        }
                    }
                }
                Operation::Set { test, join, target, real, sources } => {
                    let [result, _] = self.test(context, *test, *join, *sources, lane);
                    let yes = if *real { u64::from(1f32.to_bits()) } else { u64::MAX };
                    self.write(*target, lane, if result { yes } else { 0 });
                }
                Operation::Pack { target, sources, bits } => {
                    let parts = sources.iter().enumerate();
                    let part = |(at, source): (usize, &Operand)| {
                        self.read(context, *source, lane) << (at as u32 * bits)
                    };
                    let value = parts.map(part).fold(0, |all, part| all | part);
                    self.write(*target, lane, value);
                }
                Operation::Unpack { targets, source, bits } => {
                    let value = self.read(context, *source, lane);
                    for (at, target) in targets.iter().enumerate() {
                        if let Some(target) = target {
                            self.write(*target, lane, (value >> (at as u32 * bits)) & mask(*bits));
                        }
                    }
                }
                Operation::ActiveLanes { target } => self.write(*target, lane, u64::from(run)),
                Operation::Trap => return Err((lane, FaultKind::Trap)),
                _ => self.access(context, shared, operation, lane).map_err(|kind| (lane, kind))?,
            }
        }
        Ok(())
    }

    fn test(
        &self,
        context: &BlockContext<'_>,
        test: CompareTest,
        join: Option<(Join, Operand)>,
        sources: [Operand; 2],
        lane: usize,
    ) -> [bool; 2] {
        let [a, b] = sources.map(|source| self.read(context, source, lane));
        let holds = real::holds(test, a, b);
        let Some((join, other)) = join else {
            return [holds, !holds];
        };
        let other = self.read(context, other, lane) == 1;
        [holds, !holds].map(|holds| match join {
            Join::And => holds && other,
            Join::Or => holds || other,
            Join::Xor => holds != other,
        })
    }
}

fn compute(function: ValueFunction, kind: Type, values: [u64; 4]) -> u64 {
    let [a, b, c, _] = values;
    match function {
        ValueFunction::Copy => a,
        ValueFunction::Select => {
            if c == 1 {
                a
            } else {
                b
            }
        }
        ValueFunction::Integer(function) => integer::evaluate(function, kind, values),
        ValueFunction::Real(function, modifiers) => {
            real::evaluate(function, modifiers, kind, [a, b, c])
        }
        ValueFunction::Convert(conversion) if conversion.to.pair => convert_pair(conversion, a, b),
        ValueFunction::Convert(conversion) => convert(conversion, a),
        ValueFunction::ToGeneric(space) => crate::access::window(space).wrapping_add(a),
        ValueFunction::FromGeneric(space) => a.wrapping_sub(crate::access::window(space)),
    }
}
