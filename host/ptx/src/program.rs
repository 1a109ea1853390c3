//! A kernel as it is run: opcodes resolved, names replaced by slots and offsets, calls inlined.

use crate::convert::Conversion;
use crate::fragment::{MatrixAccess, MatrixProduct};
use crate::integer::IntegerFunction;
use crate::narrow::NarrowConversion;
use crate::operand::{CompareTest, MemoryOperand, Operand, RealModifiers, Register, Space, Type};
use crate::real::RealFunction;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueFunction {
    Copy,
    /// The third source decides.
    Select,
    Integer(IntegerFunction),
    Real(RealFunction, RealModifiers),
    Convert(Conversion),
    Narrow(NarrowConversion),
    /// Four products of bytes, added to the third source; whether each side is signed.
    DotProduct([bool; 2]),
    /// Whether a generic address lies in the space.
    IsIn(Space),
    ToGeneric(Space),
    FromGeneric(Space),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    And,
    Or,
    Xor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicFunction {
    Add,
    Minimum,
    Maximum,
    Exchange,
    CompareAndSwap,
    And,
    Or,
    Xor,
    Increment,
    Decrement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// `cp.async`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyAsync {
    pub to: MemoryOperand,
    pub from: MemoryOperand,
    pub bytes: u8,
    /// The bytes that are read; the others become zero.
    pub read: Option<Operand>,
}

/// Offsets in local memory of what `vprintf` is given and gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrintCall {
    pub format: u64,
    pub arguments: u64,
    pub result: Option<u64>,
}

/// The vote of the threads at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrierVote {
    pub mode: BarrierVoteMode,
    pub target: Register,
    pub predicate: Operand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierVoteMode {
    Count,
    All,
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Compute {
        function: ValueFunction,
        kind: Type,
        target: Register,
        sources: [Operand; 4],
    },
    Test {
        test: CompareTest,
        join: Option<(Join, Operand)>,
        targets: [Option<Register>; 2],
        sources: [Operand; 2],
    },
    /// `set`: like a test, but the target gets `yes`, which is 1.0 for a float target. Each half of a pair is tested.
    Set {
        test: CompareTest,
        join: Option<(Join, Operand)>,
        target: Register,
        yes: u64,
        sources: [Operand; 2],
    },
    Pack {
        target: Register,
        sources: Vec<Operand>,
        bits: u32,
    },
    Unpack {
        targets: Vec<Option<Register>>,
        source: Operand,
        bits: u32,
    },
    Load {
        address: MemoryOperand,
        kind: Type,
        targets: Vec<Option<Register>>,
    },
    Store {
        address: MemoryOperand,
        kind: Type,
        sources: Vec<Operand>,
    },
    Atomic {
        function: AtomicFunction,
        address: MemoryOperand,
        kind: Type,
        target: Option<Register>,
        sources: [Operand; 2],
    },
    Branch {
        to: usize,
    },
    Exit,
    Trap,
    Nothing,
    Barrier {
        barrier: Operand,
        threads: Option<Operand>,
        vote: Option<BarrierVote>,
    },
    /// `bar.arrive`: counts at the barrier and goes on.
    Arrive {
        barrier: Operand,
        threads: Operand,
    },
    Shuffle {
        mode: ShuffleMode,
        target: Register,
        valid: Option<Register>,
        value: Operand,
        lane: Operand,
        clamp: Operand,
        members: Operand,
    },
    Vote {
        mode: VoteMode,
        target: Register,
        predicate: Operand,
        members: Operand,
    },
    WarpBarrier {
        members: Operand,
    },
    /// `redux.sync`
    Reduce {
        function: AtomicFunction,
        kind: Type,
        target: Register,
        value: Operand,
        members: Operand,
    },
    /// `match.sync`
    Match {
        all: bool,
        target: Register,
        valid: Option<Register>,
        value: Operand,
        members: Operand,
    },
    /// `elect.sync`: the lowest lane.
    Elect {
        target: Option<Register>,
        valid: Register,
        members: Operand,
    },
    Product(Box<MatrixProduct>),
    MatrixAccess(Box<MatrixAccess>),
    /// `movmatrix`: a matrix of 8 by 8 halves, transposed.
    Transpose {
        target: Register,
        source: Operand,
    },
    CopyAsync(CopyAsync),
    CopyCommit,
    /// Waits for all groups of copies but the last ones; without a number, for all copies.
    CopyWait {
        groups: Option<u64>,
    },
    Print(PrintCall),
    ActiveLanes {
        target: Register,
    },
}

impl Join {
    pub fn of(self, holds: bool, other: bool) -> bool {
        match self {
            Join::And => holds && other,
            Join::Or => holds || other,
            Join::Xor => holds != other,
        }
    }
}

impl Operation {
    /// Whether each lane does it by itself and goes on to the next instruction, for a step.
    pub fn is_of_each_lane(&self) -> bool {
        let together = matches!(
            self,
            Operation::Branch { .. }
                | Operation::Exit
                | Operation::Barrier { .. }
                | Operation::Arrive { .. }
                | Operation::Print(_)
        );
        !together && self.members().is_none()
    }

    /// The steps that it takes beside one for each lane.
    pub fn cost(&self) -> u64 {
        match self {
            Operation::Product(product) => product.cost(),
            Operation::MatrixAccess(access) => access.cost(),
            Operation::Transpose { .. } => 32,
            _ => 0,
        }
    }

    /// The mask of the lanes that take part, of an instruction that a warp runs together.
    pub fn members(&self) -> Option<Operand> {
        match self {
            Operation::Shuffle { members, .. }
            | Operation::Vote { members, .. }
            | Operation::WarpBarrier { members }
            | Operation::Reduce { members, .. }
            | Operation::Match { members, .. }
            | Operation::Elect { members, .. } => Some(*members),
            Operation::Product(_) | Operation::MatrixAccess(_) | Operation::Transpose { .. } => {
                Some(Operand::Immediate(u64::from(u32::MAX)))
            }
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    pub line: u32,
    /// Register, and whether it must be false.
    pub guard: Option<(u32, bool)>,
    pub operation: Operation,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtxProgram {
    pub instructions: Vec<Instruction>,
    pub registers: u32,
    pub local_bytes: u64,
    pub static_shared_bytes: u64,
}
