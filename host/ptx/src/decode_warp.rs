//! Barriers, and what the lanes of a warp do together.

use crate::decode::Parsed;
use crate::emit::Emitter;
use crate::error::ParseProblem;
use crate::opcode::Opcode;
use crate::program::{Operand, Operation, ShuffleMode, Type, VoteMode};
use crate::syntax::SyntaxArgument;

pub fn barrier<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> Parsed<Operation> {
    let is_warp = opcode.take("warp");
    opcode.take("cta");
    opcode.take("aligned");
    if !opcode.take("sync") {
        return Err(opcode.unsupported());
    }
    opcode.finish()?;
    if is_warp {
        let [members] = opcode.arguments()?;
        return Ok(Operation::WarpBarrier { members: emitter.source(opcode, members, Type::U32)? });
    }
    let (barrier, threads) = match opcode.line.arguments.as_slice() {
        [barrier] => (barrier, None),
        [barrier, threads] => (barrier, Some(emitter.source(opcode, threads, Type::U32)?)),
        _ => return Err(opcode.fault(ParseProblem::Syntax("another number of operands is needed"))),
    };
    Ok(Operation::Barrier { barrier: emitter.source(opcode, barrier, Type::U32)?, threads })
}

pub fn shuffle<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> Parsed<Operation> {
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
    let mut number = |argument| -> Parsed<Operand> { emitter.source(opcode, argument, Type::U32) };
    let (value, lane, clamp, members) =
        (number(value)?, number(lane)?, number(clamp)?, number(members)?);
    let target = emitter.target(opcode, &target, 32)?;
    Ok(Operation::Shuffle { mode, target, valid, value, lane, clamp, members })
}

pub fn vote<'a>(emitter: &mut Emitter<'_, 'a>, opcode: &mut Opcode<'_, 'a>) -> Parsed<Operation> {
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
