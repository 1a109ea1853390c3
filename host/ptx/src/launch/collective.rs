//! Collective operations of a warp's lanes: shuffles, votes, the warp's barrier. They run once all members of the mask
//! that have not returned have arrived.

use crate::error::FaultKind;
use crate::launch::access::replaced;
use crate::launch::block::BlockContext;
use crate::launch::warp::{EarlyEnd, LaneState, Warp, lanes};
use crate::operand::Operand;
use crate::program::{Operation, ShuffleMode, VoteMode};

pub enum CollectiveResult {
    /// The lanes that took part.
    Done(u32),
    Fault(usize, FaultKind),
}

impl Warp {
    fn operation<'c>(&self, context: &BlockContext<'c>, lane: usize) -> &'c Operation {
        &context.program.instructions[self.counter(lane)].operation
    }

    fn members(&self, context: &BlockContext<'_>, operation: &Operation, lane: usize) -> u32 {
        let members = operation.members().expect("only collective operations come here");
        self.read(context, members, lane) as u32
    }

    /// The lanes of `present` with the same members as `lane`.
    fn group(
        &self,
        context: &BlockContext<'_>,
        operation: &Operation,
        lane: usize,
        present: u32,
    ) -> u32 {
        let members = operation.members().expect("only collective operations come here");
        if let Operand::Immediate(_) = members {
            return present;
        }
        let mask = self.members(context, operation, lane);
        let same = |other: &usize| self.members(context, operation, *other) == mask;
        lanes(present).filter(same).fold(0, |set, lane| set | 1 << lane)
    }

    /// Whether all that `lane`, which is parked, waits for are among `present`.
    pub(crate) fn is_complete(
        &self,
        context: &BlockContext<'_>,
        lane: usize,
        present: u32,
    ) -> bool {
        let operation = self.operation(context, lane);
        let group = self.group(context, operation, lane, present);
        self.members(context, operation, lane) & self.live() & !group == 0
    }

    /// The fault of the first lane that is parked for good.
    pub(crate) fn lanes_missing(&self, context: &BlockContext<'_>) -> Option<EarlyEnd> {
        let parked = |lane: &usize| self.states[*lane] == LaneState::Parked;
        let lane = (0..self.states.len()).find(parked)?;
        let counter = self.counter(lane);
        let beside =
            (0..self.states.len()).filter(parked).filter(|other| self.counter(*other) == counter);
        let present = beside.fold(0u32, |set, lane| set | 1 << lane);
        let operation = self.operation(context, lane);
        let group = self.group(context, operation, lane, present);
        let missing = self.members(context, operation, lane) & self.live() & !group;
        Some(self.fault(context, lane, FaultKind::LanesMissing { missing }))
    }

    pub(crate) fn collective(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        operation: &Operation,
        run: u32,
    ) -> CollectiveResult {
        let mut left = run;
        let mut done = 0;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let mask = self.members(context, operation, first);
            let group = self.group(context, operation, first, left);
            left &= !group;
            if let Some(lane) = lanes(group & !mask).next() {
                return CollectiveResult::Fault(lane, FaultKind::BadMemberMask { mask });
            }
            if mask & self.live() & !group == 0 {
                if let Err((lane, kind)) = self.together(context, shared, operation, group) {
                    return CollectiveResult::Fault(lane, kind);
                }
                done |= group;
            }
        }
        CollectiveResult::Done(done)
    }

    fn together(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        operation: &Operation,
        group: u32,
    ) -> Result<(), (usize, FaultKind)> {
        let is_matrix = matches!(
            operation,
            Operation::Product(_) | Operation::MatrixAccess(_) | Operation::Transpose { .. }
        );
        if is_matrix && group != u32::MAX {
            let lane = group.trailing_zeros() as usize;
            return Err((lane, FaultKind::WarpIncomplete { missing: !group }));
        }
        match operation {
            Operation::Product(product) => self.product(context, product),
            Operation::MatrixAccess(access) => self.matrix_access(context, shared, access)?,
            Operation::Transpose { target, source } => self.transpose(context, *target, *source),
            Operation::Reduce { function, kind, target, value, .. } => {
                let mut values = lanes(group).map(|lane| self.read(context, *value, lane));
                let first = values.next().unwrap_or(0);
                let reduced = values
                    .fold(first, |all, value| replaced(*function, *kind, all, [value, 0], false));
                lanes(group).for_each(|lane| self.write(*target, lane, reduced));
            }
            Operation::Match { .. } => self.match_values(context, operation, group),
            Operation::Elect { target, valid, .. } => {
                let leader = group.trailing_zeros() as usize;
                for lane in lanes(group) {
                    if let Some(target) = target {
                        self.write(*target, lane, leader as u64);
                    }
                    self.write(*valid, lane, u64::from(lane == leader));
                }
            }
            Operation::Shuffle { .. } => self.shuffle(context, operation, group),
            Operation::Vote { mode, target, predicate, .. } => {
                let holds = |lane: &usize| self.read(context, *predicate, *lane) == 1;
                let ballot = lanes(group).filter(holds).fold(0u32, |set, lane| set | 1 << lane);
                let result = match mode {
                    VoteMode::All => u32::from(ballot == group),
                    VoteMode::Any => u32::from(ballot != 0),
                    VoteMode::Uniform => u32::from(ballot == group || ballot == 0),
                    VoteMode::Ballot => ballot,
                };
                lanes(group).for_each(|lane| self.write(*target, lane, u64::from(result)));
            }
            // The warp's barrier: to have come together is all.
            _ => {}
        }
        Ok(())
    }

    fn match_values(&mut self, context: &BlockContext<'_>, operation: &Operation, group: u32) {
        let Operation::Match { all, target, valid, value, .. } = operation else {
            return;
        };
        let values = self.gather(context, *value);
        let same = |lane: usize| {
            let alike = lanes(group).filter(|other| values[*other] == values[lane]);
            alike.fold(0_u32, |set, other| set | 1 << other)
        };
        for lane in lanes(group) {
            let set = same(lane);
            let set = if *all && set != group { 0 } else { set };
            self.write(*target, lane, u64::from(set));
            if let Some(valid) = valid {
                self.write(*valid, lane, u64::from(set == group));
            }
        }
    }

    fn shuffle(&mut self, context: &BlockContext<'_>, operation: &Operation, group: u32) {
        let Operation::Shuffle { mode, target, valid, value, lane: distance, clamp, .. } =
            operation
        else {
            return;
        };
        let read = |operand: Operand, lane: usize| self.read(context, operand, lane);
        let mut results = [(0, false); 32];
        for lane in lanes(group) {
            let (from, inside) =
                source(*mode, lane as u64, read(*distance, lane), read(*clamp, lane));
            let from = if inside { from } else { lane as u64 };
            let takes_part = group >> from & 1 == 1;
            results[lane] =
                (if takes_part { read(*value, from as usize) } else { u64::MAX }, inside);
        }
        for lane in lanes(group) {
            self.write(*target, lane, results[lane].0);
            if let Some(valid) = valid {
                self.write(*valid, lane, u64::from(results[lane].1));
            }
        }
    }
}

/// The lane to take from, and whether it is inside the segment (PTX ISA, `shfl.sync`).
fn source(mode: ShuffleMode, lane: u64, distance: u64, clamp: u64) -> (u64, bool) {
    let distance = distance & 31;
    let bound = clamp & 31;
    let segment = (clamp >> 8) & 31;
    let highest = (lane & segment) | (bound & !segment);
    match mode {
        ShuffleMode::Up => (lane.wrapping_sub(distance), lane >= distance + highest),
        ShuffleMode::Down => (lane + distance, lane + distance <= highest),
        ShuffleMode::Butterfly => (lane ^ distance, (lane ^ distance) <= highest),
        ShuffleMode::Index => {
            let from = (lane & segment) | (distance & !segment);
            (from, from <= highest)
        }
    }
}
