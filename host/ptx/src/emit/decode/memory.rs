//! Loads, stores and atomic operations.

use crate::emit::Emitter;
use crate::error::{ParseProblem, ParseResult};
use crate::opcode::Opcode;
use crate::operand::{Class, Operand, Space, Type};
use crate::program::{AtomicFunction, Operation};
use crate::syntax::SyntaxArgument;

/// Orders and scopes mean nothing where blocks run one after the other; cache hints mean nothing here.
const ORDERS: &[&str] =
    &["weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys"];
const HINTS: &[&str] = &[
    "nc",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::64B",
    "L2::128B",
    "L2::256B",
];

struct Access {
    space: Space,
    kind: Type,
    elements: usize,
}

fn access(opcode: &mut Opcode<'_, '_>) -> ParseResult<Access> {
    opcode.take_any(ORDERS);
    opcode.take_any(HINTS);
    let space = opcode.space().unwrap_or(Space::Generic);
    let elements = opcode.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let kind = opcode.kind()?;
    opcode.finish()?;
    if kind == Type::PREDICATE || kind.bytes() * elements as u64 > 16 {
        return Err(opcode.fault(ParseProblem::Unsupported("accesses of this type".into())));
    }
    Ok(Access { space, kind, elements })
}

fn elements<'s, 'a>(
    opcode: &Opcode<'_, 'a>,
    access: &Access,
    argument: &'s SyntaxArgument<'a>,
) -> ParseResult<&'s [SyntaxArgument<'a>]> {
    let elements = match argument {
        SyntaxArgument::Vector(elements) => elements.as_slice(),
        single => std::slice::from_ref(single),
    };
    let fits = elements.len() == access.elements;
    if fits {
        Ok(elements)
    } else {
        Err(opcode.fault(ParseProblem::Syntax("the vector has another length")))
    }
}

pub fn load<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let access = access(opcode)?;
    let [targets, address] = opcode.arguments()?;
    let address = emitter.address(opcode, address, access.space)?;
    let targets = elements(opcode, &access, targets)?;
    let bits = access.kind.width();
    let targets = targets.iter().map(|target| emitter.target_or_none(opcode, target, bits));
    let targets = targets.collect::<ParseResult<Vec<_>>>()?;
    Ok(Operation::Load { address, kind: access.kind, targets })
}

pub fn store<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let access = access(opcode)?;
    if access.space == Space::Constant {
        return Err(opcode.fault(ParseProblem::Syntax("constant memory is not written")));
    }
    let [address, sources] = opcode.arguments()?;
    let address = emitter.address(opcode, address, access.space)?;
    let sources = elements(opcode, &access, sources)?;
    let sources = sources.iter().map(|source| emitter.wide_source(opcode, source, access.kind));
    let sources = sources.collect::<ParseResult<Vec<_>>>()?;
    Ok(Operation::Store { address, kind: access.kind, sources })
}

/// A hint, of which only the form is checked.
pub fn prefetch<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    opcode.take_any(&["L1", "L2", "L2::evict_last", "L2::evict_normal"]);
    let space = opcode.space().unwrap_or(Space::Generic);
    opcode.finish()?;
    let [address] = opcode.arguments()?;
    emitter.address(opcode, address, space)?;
    Ok(Operation::Nothing)
}

pub fn atomic<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    use AtomicFunction as F;
    opcode.take_any(ORDERS);
    let space = opcode.space().unwrap_or(Space::Generic);
    let function = opcode.pick(&[
        ("add", F::Add),
        ("min", F::Minimum),
        ("max", F::Maximum),
        ("exch", F::Exchange),
        ("cas", F::CompareAndSwap),
        ("and", F::And),
        ("or", F::Or),
        ("xor", F::Xor),
        ("inc", F::Increment),
        ("dec", F::Decrement),
    ]);
    let function = function.ok_or_else(|| opcode.unsupported())?;
    let kind = opcode.kind()?;
    let halves = kind.bits == 16 && kind.is_real() && opcode.take("noftz");
    opcode.finish()?;
    let wide = kind.bits >= 32;
    let fits = match function {
        F::Add => halves || (wide && kind.class != Class::Bits),
        F::Minimum | F::Maximum => wide && matches!(kind.class, Class::Signed | Class::Unsigned),
        F::Increment | F::Decrement => kind == Type::U32,
        F::CompareAndSwap => kind.bits >= 16 && kind.class == Class::Bits,
        _ => wide && kind.class == Class::Bits,
    };
    if !fits || !matches!(space, Space::Generic | Space::Global | Space::Shared) {
        return Err(
            opcode.fault(ParseProblem::Unsupported("atomic operations of this type".into()))
        );
    }
    let (target, rest) = match opcode.line.arguments.split_first() {
        Some((target, rest)) if opcode.name == "atom" => {
            (emitter.target_or_none(opcode, target, kind.width())?, rest)
        }
        _ => (None, opcode.line.arguments.as_slice()),
    };
    let (address, values) = match (rest, function) {
        ([address, a, b], F::CompareAndSwap) => (address, vec![a, b]),
        ([address, a], _) if function != F::CompareAndSwap => (address, vec![a]),
        _ => return Err(opcode.fault(ParseProblem::Syntax("another number of operands is needed"))),
    };
    let address = emitter.address(opcode, address, space)?;
    let mut sources = [Operand::Immediate(0); 2];
    for (source, value) in sources.iter_mut().zip(values) {
        *source = emitter.source(opcode, value, kind)?;
    }
    Ok(Operation::Atomic { function, address, kind, target, sources })
}
