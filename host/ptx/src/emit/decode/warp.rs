//! Barriers, and what the lanes of a warp do together.

use crate::emit::Emitter;
use crate::error::{ParseProblem, ParseResult};
use crate::opcode::Opcode;
use crate::operand::{Operand, Type};
use crate::program::{
    AtomicFunction, BarrierVote, BarrierVoteMode, Operation, ShuffleMode, VoteMode,
};
use crate::syntax::SyntaxArgument;

pub fn barrier<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let is_warp = opcode.take("warp");
    opcode.take("cta");
    opcode.take("aligned");
    let arrives = opcode.take("arrive");
    let votes = opcode.take("red");
    if usize::from(opcode.take("sync")) + usize::from(arrives) + usize::from(votes) != 1
        || (is_warp && (arrives || votes))
    {
        return Err(opcode.unsupported());
    }
    if votes {
        return barrier_vote(emitter, opcode);
    }
    opcode.finish()?;
    if arrives {
        let [barrier, threads] = opcode.arguments()?;
        let barrier = emitter.source(opcode, barrier, Type::U32)?;
        return Ok(Operation::Arrive {
            barrier,
            threads: emitter.source(opcode, threads, Type::U32)?,
        });
    }
    if is_warp {
        let [members] = opcode.arguments()?;
        return Ok(Operation::WarpBarrier { members: emitter.source(opcode, members, Type::U32)? });
    }
    let (barrier, threads) = match opcode.line.arguments.as_slice() {
        [barrier] => (barrier, None),
        [barrier, threads] => (barrier, Some(emitter.source(opcode, threads, Type::U32)?)),
        _ => return Err(opcode.fault(ParseProblem::Syntax("another number of operands is needed"))),
    };
    let barrier = emitter.source(opcode, barrier, Type::U32)?;
    Ok(Operation::Barrier { barrier, threads, vote: None })
}

/// `bar.red`: `__syncthreads_count` and its kin.
fn barrier_vote<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let mode = opcode.pick(&[
        ("popc", BarrierVoteMode::Count),
        ("and", BarrierVoteMode::All),
        ("or", BarrierVoteMode::Any),
    ]);
    let mode = mode.ok_or_else(|| opcode.unsupported())?;
    let bits = if mode == BarrierVoteMode::Count { 32 } else { 1 };
    if !opcode.take(if bits == 32 { "u32" } else { "pred" }) {
        return Err(opcode.unsupported());
    }
    opcode.finish()?;
    let (target, barrier, threads, predicate) = match opcode.line.arguments.as_slice() {
        [target, barrier, predicate] => (target, barrier, None, predicate),
        [target, barrier, threads, predicate] => {
            (target, barrier, Some(emitter.source(opcode, threads, Type::U32)?), predicate)
        }
        _ => return Err(opcode.fault(ParseProblem::Syntax("another number of operands is needed"))),
    };
    let target = emitter.target(opcode, target, bits)?;
    let predicate = emitter.source(opcode, predicate, Type::PREDICATE)?;
    let vote = Some(BarrierVote { mode, target, predicate });
    Ok(Operation::Barrier { barrier: emitter.source(opcode, barrier, Type::U32)?, threads, vote })
}

pub fn reduce<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let function = opcode.pick(&[
        ("add", AtomicFunction::Add),
        ("min", AtomicFunction::Minimum),
        ("max", AtomicFunction::Maximum),
        ("and", AtomicFunction::And),
        ("or", AtomicFunction::Or),
        ("xor", AtomicFunction::Xor),
    ]);
    let (Some(function), true) = (function, opcode.take("sync")) else {
        return Err(opcode.unsupported());
    };
    let kind = opcode.kind()?;
    opcode.finish()?;
    if kind.bits != 32 || !kind.is_integer() {
        return Err(opcode.fault(ParseProblem::Unsupported("this type of the instruction".into())));
    }
    let [target, value, members] = opcode.arguments()?;
    let target = emitter.target(opcode, target, 32)?;
    let value = emitter.source(opcode, value, kind)?;
    let members = emitter.source(opcode, members, Type::U32)?;
    Ok(Operation::Reduce { function, kind, target, value, members })
}

pub fn matches<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let all = opcode.pick(&[("all", true), ("any", false)]);
    let (Some(all), true) = (all, opcode.take("sync")) else {
        return Err(opcode.unsupported());
    };
    let kind = opcode.kind()?;
    opcode.finish()?;
    if kind.bits < 32 || !kind.is_integer() {
        return Err(opcode.fault(ParseProblem::Unsupported("this type of the instruction".into())));
    }
    let [targets, value, members] = opcode.arguments()?;
    let (target, valid) = match targets {
        SyntaxArgument::Pair(target, valid) if all => {
            let valid = emitter.target_or_none(opcode, &SyntaxArgument::Word(valid), 1)?;
            (emitter.target(opcode, &SyntaxArgument::Word(target), 32)?, valid)
        }
        single => (emitter.target(opcode, single, 32)?, None),
    };
    let value = emitter.source(opcode, value, kind)?;
    let members = emitter.source(opcode, members, Type::U32)?;
    Ok(Operation::Match { all, target, valid, value, members })
}

pub fn elect<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    if !opcode.take("sync") {
        return Err(opcode.unsupported());
    }
    opcode.finish()?;
    let [SyntaxArgument::Pair(target, valid), members] = opcode.arguments()? else {
        return Err(opcode.fault(ParseProblem::Syntax("two targets are needed")));
    };
    let target = emitter.target_or_none(opcode, &SyntaxArgument::Word(target), 32)?;
    let valid = emitter.target(opcode, &SyntaxArgument::Word(valid), 1)?;
    let members = emitter.source(opcode, members, Type::U32)?;
    Ok(Operation::Elect { target, valid, members })
}

pub fn shuffle<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let mode = opcode.pick(&[
        ("up", ShuffleMode::Up),
        ("down", ShuffleMode::Down),
        ("bfly", ShuffleMode::Butterfly),
        ("idx", ShuffleMode::Index),
    ]);
    let (Some(mode), true, true) = (mode, opcode.take("sync"), opcode.take("b32")) else {
        return Err(opcode.unsupported());
    };
    opcode.finish()?;
    let [targets, value, lane, clamp, members] = opcode.arguments()?;
    let (target, valid) = match targets {
        SyntaxArgument::Pair(target, valid) => {
            (SyntaxArgument::Word(target), Some(SyntaxArgument::Word(valid)))
        }
        single => (single.clone(), None),
    };
    let valid = match valid {
        None => None,
        Some(valid) => emitter.target_or_none(opcode, &valid, 1)?,
    };
    let mut number =
        |argument| -> ParseResult<Operand> { emitter.source(opcode, argument, Type::U32) };
    let (value, lane, clamp, members) =
        (number(value)?, number(lane)?, number(clamp)?, number(members)?);
    let target = emitter.target(opcode, &target, 32)?;
    Ok(Operation::Shuffle { mode, target, valid, value, lane, clamp, members })
}

pub fn vote<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let mode = opcode.pick(&[
        ("all", VoteMode::All),
        ("any", VoteMode::Any),
        ("uni", VoteMode::Uniform),
        ("ballot", VoteMode::Ballot),
    ]);
    let (Some(mode), true) = (mode, opcode.take("sync")) else {
        return Err(opcode.unsupported());
    };
    let is_ballot = mode == VoteMode::Ballot;
    if !opcode.take(if is_ballot { "b32" } else { "pred" }) {
        return Err(opcode.unsupported());
    }
    opcode.finish()?;
    let [target, predicate, members] = opcode.arguments()?;
    let target = emitter.target(opcode, target, if is_ballot { 32 } else { 1 })?;
    let predicate = emitter.source(opcode, predicate, Type::PREDICATE)?;
    let members = emitter.source(opcode, members, Type::U32)?;
    Ok(Operation::Vote { mode, target, predicate, members })
}
