//! One instruction's text into its operation: arithmetic here, the rest in the modules beside.

mod matrix;
mod memory;
mod narrow;
mod warp;

use crate::convert::Conversion;
use crate::emit::Emitter;
use crate::emit::decode::matrix::{copy, matrix};
use crate::emit::decode::memory::{atomic, load, prefetch, store};
use crate::emit::decode::narrow::{dot_product, narrow_conversion, space_test};
use crate::emit::decode::warp::{barrier, elect, matches, reduce, shuffle, vote};
use crate::error::{ParseProblem, ParseResult};
use crate::float::Rounding;
use crate::integer::IntegerFunction as Integer;
use crate::opcode::Opcode;
use crate::operand::{Class, CompareOperator, CompareTest, Operand, RealModifiers, Type};
use crate::program::{Join, Operation, ValueFunction};
use crate::real::RealFunction as Real;
use crate::syntax::SyntaxArgument;

pub fn decode<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    match opcode.name {
        "mov" => moved(emitter, opcode),
        "ld" | "ldu" => load(emitter, opcode),
        "st" => store(emitter, opcode),
        "atom" | "red" => atomic(emitter, opcode),
        "cvta" => address_conversion(emitter, opcode),
        "cvt" => conversion(emitter, opcode),
        "setp" | "set" => test(emitter, opcode),
        "selp" => select(emitter, opcode),
        "bar" | "barrier" => barrier(emitter, opcode),
        "shfl" => shuffle(emitter, opcode),
        "vote" => vote(emitter, opcode),
        "redux" => reduce(emitter, opcode),
        "match" => matches(emitter, opcode),
        "elect" => elect(emitter, opcode),
        "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => matrix(emitter, opcode),
        "cp" => copy(emitter, opcode),
        "dp4a" => dot_product(emitter, opcode),
        "isspacep" => space_test(emitter, opcode),
        "prefetch" | "prefetchu" => prefetch(emitter, opcode),
        "nanosleep" => {
            let kind = opcode.kind()?;
            opcode.finish()?;
            let [duration] = opcode.arguments()?;
            emitter.source(opcode, duration, kind)?;
            Ok(Operation::Nothing)
        }
        "activemask" => {
            opcode.take("b32");
            opcode.finish()?;
            let [target] = opcode.arguments()?;
            Ok(Operation::ActiveLanes { target: emitter.target(opcode, target, 32)? })
        }
        "membar" | "fence" => {
            opcode.take_any(&["sc", "acq_rel", "cta", "gl", "gpu", "sys"]);
            opcode.finish()?;
            opcode.arguments::<0>()?;
            Ok(Operation::Nothing)
        }
        "exit" | "trap" => {
            opcode.finish()?;
            opcode.arguments::<0>()?;
            Ok(if opcode.name == "exit" { Operation::Exit } else { Operation::Trap })
        }
        _ => arithmetic(emitter, opcode),
    }
}

fn arithmetic<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let shift = match opcode.name {
        "shf" => opcode
            .pick(&[("l", true), ("r", false)])
            .zip(opcode.pick(&[("wrap", true), ("clamp", false)])),
        _ => None,
    };
    let part = match opcode.name {
        "mul" | "mad" => opcode.pick(&[("lo", 0), ("hi", 1), ("wide", 2)]),
        _ => None,
    };
    let as_shift = opcode.name == "bfind" && opcode.take("shiftamt");
    let kind = opcode.kind()?;
    if kind.is_real() {
        return real(emitter, opcode, kind);
    }
    let wide = part == Some(2);
    let function = match (opcode.name, part, shift) {
        ("mul", Some(part), _) => {
            [Integer::MultiplyLow, Integer::MultiplyHigh, Integer::MultiplyWide][part]
        }
        ("mad", Some(part), _) => {
            [Integer::MultiplyAddLow, Integer::MultiplyAddHigh, Integer::MultiplyAddWide][part]
        }
        ("shf", _, Some((true, true))) => Integer::FunnelLeftWrap,
        ("shf", _, Some((true, false))) => Integer::FunnelLeftClamp,
        ("shf", _, Some((false, true))) => Integer::FunnelRightWrap,
        ("shf", _, Some((false, false))) => Integer::FunnelRightClamp,
        ("bfind", ..) if as_shift => Integer::FindShift,
        (name, ..) => plain_integer(name).ok_or_else(|| opcode.unsupported())?,
    };
    opcode.finish()?;
    if !integer_kind_fits(function, kind) || (wide && kind.bits == 64) {
        return Err(opcode.fault(ParseProblem::Unsupported("this type of the instruction".into())));
    }
    integer(emitter, opcode, function, kind, wide)
}

fn plain_integer(name: &str) -> Option<Integer> {
    Some(match name {
        "add" => Integer::Add,
        "sub" => Integer::Subtract,
        "div" => Integer::Divide,
        "rem" => Integer::Remainder,
        "neg" => Integer::Negate,
        "abs" => Integer::Absolute,
        "min" => Integer::Minimum,
        "max" => Integer::Maximum,
        "and" => Integer::And,
        "or" => Integer::Or,
        "xor" => Integer::Xor,
        "not" => Integer::Not,
        "cnot" => Integer::LogicalNot,
        "shl" => Integer::ShiftLeft,
        "shr" => Integer::ShiftRight,
        "bfe" => Integer::ExtractBits,
        "bfi" => Integer::InsertBits,
        "prmt" => Integer::Permute,
        "popc" => Integer::CountOnes,
        "bfind" => Integer::FindHighest,
        "clz" => Integer::CountLeadingZeros,
        "brev" => Integer::Reverse,
        "lop3" => Integer::Lookup,
        _ => return None,
    })
}

fn integer_kind_fits(function: Integer, kind: Type) -> bool {
    use Integer as F;
    match function {
        F::And | F::Or | F::Xor | F::Not => kind.bits != 8,
        F::Permute
        | F::Lookup
        | F::FunnelLeftWrap
        | F::FunnelLeftClamp
        | F::FunnelRightWrap
        | F::FunnelRightClamp => kind.bits == 32,
        F::ExtractBits | F::InsertBits | F::CountOnes | F::CountLeadingZeros | F::Reverse => {
            kind.bits >= 32
        }
        F::FindHighest | F::FindShift => kind.bits >= 32 && kind.class != Class::Bits,
        F::Negate | F::Absolute => kind.is_signed() && kind.bits >= 16,
        F::ShiftLeft | F::ShiftRight | F::LogicalNot => kind.is_integer() && kind.bits >= 16,
        _ => matches!(kind.class, Class::Signed | Class::Unsigned) && kind.bits >= 16,
    }
}

fn integer<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &Opcode<'_, 'a>,
    function: Integer,
    kind: Type,
    wide: bool,
) -> ParseResult<Operation> {
    use Integer as F;
    let number = Type::U32;
    let kinds: &[Type] = match function {
        F::Negate
        | F::Absolute
        | F::Not
        | F::LogicalNot
        | F::CountOnes
        | F::CountLeadingZeros
        | F::FindHighest
        | F::FindShift
        | F::Reverse => &[kind],
        F::ShiftLeft | F::ShiftRight => &[kind, number],
        F::ExtractBits => &[kind, number, number],
        F::InsertBits => &[kind, kind, number, number],
        F::Lookup => &[kind, kind, kind, number],
        F::MultiplyAddWide => &[kind, kind, kind.widened()],
        F::MultiplyAddLow | F::MultiplyAddHigh | F::Permute => &[kind, kind, kind],
        F::FunnelLeftWrap | F::FunnelLeftClamp | F::FunnelRightWrap | F::FunnelRightClamp => {
            &[kind, kind, number]
        }
        _ => &[kind, kind],
    };
    let bits = match function {
        F::CountOnes | F::CountLeadingZeros | F::FindHighest | F::FindShift => 32,
        _ if wide => kind.widened().width(),
        _ => kind.width(),
    };
    compute(emitter, opcode, ValueFunction::Integer(function), kind, bits, kinds)
}

pub fn compute<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &Opcode<'_, 'a>,
    function: ValueFunction,
    kind: Type,
    bits: u32,
    kinds: &[Type],
) -> ParseResult<Operation> {
    let Some((target, arguments)) = opcode.line.arguments.split_first() else {
        return Err(opcode.fault(ParseProblem::Syntax("operands are missing")));
    };
    if arguments.len() != kinds.len() {
        return Err(opcode.fault(ParseProblem::Syntax("another number of operands is needed")));
    }
    let target = emitter.target(opcode, target, bits)?;
    let mut sources = [Operand::Immediate(0); 4];
    for ((source, argument), kind) in sources.iter_mut().zip(arguments).zip(kinds) {
        *source = emitter.source(opcode, argument, *kind)?;
    }
    Ok(Operation::Compute { function, kind, target, sources })
}

fn real<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
    kind: Type,
) -> ParseResult<Operation> {
    let rounding = opcode.rounding();
    let approximate = opcode.take("approx") || (opcode.name == "div" && opcode.take("full"));
    let modifiers = RealModifiers {
        rounding: rounding.unwrap_or(Rounding::Nearest),
        flush: kind.bits < 64 && kind.class == Class::Float && opcode.take("ftz"),
        saturate: matches!(opcode.name, "add" | "sub" | "mul" | "fma" | "mad")
            && kind.bits < 64
            && opcode.take("sat"),
        propagate_nan: matches!(opcode.name, "min" | "max") && kind.bits < 64 && opcode.take("NaN"),
    };
    // Whether it rounds, whether it must say how, whether it approximates, how many sources it has.
    let (function, rounds, must, approximates, sources) = match opcode.name {
        "add" => (Real::Add, true, false, false, 2),
        "sub" => (Real::Subtract, true, false, false, 2),
        "mul" => (Real::Multiply, true, false, false, 2),
        "fma" => (Real::MultiplyAdd, true, true, false, 3),
        "mad" if kind.bits >= 32 => (Real::MultiplyAdd, true, true, false, 3),
        "div" if kind.bits >= 32 => (Real::Divide, true, true, kind.bits == 32, 2),
        "rcp" if kind.bits >= 32 => (Real::Reciprocal, true, true, kind.bits == 32, 1),
        "sqrt" if kind.bits >= 32 => (Real::Root, true, true, kind.bits == 32, 1),
        "rsqrt" if kind.bits >= 32 => (Real::ReciprocalRoot, false, true, true, 1),
        "ex2" if kind.class == Class::Float && kind.bits < 64 => {
            (Real::Exponential, false, true, true, 1)
        }
        "lg2" if kind == Type::F32 => (Real::Logarithm, false, true, true, 1),
        "sin" if kind == Type::F32 => (Real::Sine, false, true, true, 1),
        "cos" if kind == Type::F32 => (Real::Cosine, false, true, true, 1),
        "tanh" if kind.bits < 64 => (Real::HyperbolicTangent, false, true, true, 1),
        "neg" => (Real::Negate, false, false, false, 1),
        "abs" => (Real::Absolute, false, false, false, 1),
        "min" => (Real::Minimum, false, false, false, 2),
        "max" => (Real::Maximum, false, false, false, 2),
        "copysign" if kind.bits >= 32 => (Real::CopySign, false, false, false, 2),
        _ => return Err(opcode.unsupported()),
    };
    opcode.finish()?;
    // Rounding in a direction is done by way of f64, and 16 bits have none.
    let directed = rounding.is_some_and(|rounding| rounding != Rounding::Nearest);
    if (directed && kind.bits != 32)
        || (rounding.is_some() && (!rounds || approximate))
        || (approximate && !approximates)
    {
        return Err(
            opcode.fault(ParseProblem::Unsupported("this rounding of the instruction".into()))
        );
    }
    if must && rounding.is_none() && !approximate {
        return Err(opcode.fault(ParseProblem::Syntax("a rounding is needed")));
    }
    compute(
        emitter,
        opcode,
        ValueFunction::Real(function, modifiers),
        kind,
        kind.width(),
        &[kind; 3][..sources],
    )
}

fn moved<'a>(emitter: &mut Emitter<'_, 'a>, opcode: &mut Opcode<'_, 'a>) -> ParseResult<Operation> {
    let kind = opcode.kind()?;
    opcode.finish()?;
    let [target, source] = opcode.arguments()?;
    let part = |count: usize| {
        let bits = kind.width() / count as u32;
        let whole = matches!(count, 2 | 4) && bits >= 8;
        let problem = ParseProblem::Syntax("a vector that does not fill the register");
        if whole {
            Ok(Type { class: Class::Bits, bits, pair: false })
        } else {
            Err(opcode.fault(problem))
        }
    };
    match (target, source) {
        (SyntaxArgument::Vector(elements), _) => {
            let part = part(elements.len())?;
            let targets =
                elements.iter().map(|element| emitter.target_or_none(opcode, element, part.bits));
            let targets = targets.collect::<ParseResult<Vec<_>>>()?;
            let source = emitter.source(opcode, source, kind)?;
            Ok(Operation::Unpack { targets, source, bits: part.bits })
        }
        (_, SyntaxArgument::Vector(elements)) => {
            let part = part(elements.len())?;
            let sources = elements.iter().map(|element| emitter.source(opcode, element, part));
            let sources = sources.collect::<ParseResult<Vec<_>>>()?;
            let target = emitter.target(opcode, target, kind.width())?;
            Ok(Operation::Pack { target, sources, bits: part.bits })
        }
        _ => compute(emitter, opcode, ValueFunction::Copy, kind, kind.width(), &[kind]),
    }
}

fn select<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let kind = opcode.kind()?;
    opcode.finish()?;
    compute(
        emitter,
        opcode,
        ValueFunction::Select,
        kind,
        kind.width(),
        &[kind, kind, Type::PREDICATE],
    )
}

fn address_conversion<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let to_space = opcode.take("to");
    let space = opcode.space().ok_or_else(|| opcode.unsupported())?;
    let kind = opcode.kind()?;
    opcode.finish()?;
    if kind.width() != 64 {
        return Err(opcode.fault(ParseProblem::Unsupported("addresses of 32 bits".into())));
    }
    let function =
        if to_space { ValueFunction::FromGeneric(space) } else { ValueFunction::ToGeneric(space) };
    compute(emitter, opcode, function, kind, 64, &[kind])
}

fn conversion<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    if let Some(narrow) = narrow_conversion(emitter, opcode)? {
        return Ok(narrow);
    }
    let to = opcode.kind()?;
    let from = opcode.kind()?;
    let rounding = opcode.rounding();
    let integral = opcode.pick(&[
        ("rni", Rounding::Nearest),
        ("rzi", Rounding::Zero),
        ("rmi", Rounding::Down),
        ("rpi", Rounding::Up),
    ]);
    let saturate = opcode.take("sat");
    let flush = (from == Type::F32 || to == Type::F32) && opcode.take("ftz");
    let rectify = to.bits == 16 && to.is_real() && from == Type::F32 && opcode.take("relu");
    opcode.finish()?;
    let narrows = to.is_real()
        && (!from.is_real() || to.bits < from.bits || (to.bits == from.bits && to != from));
    let fits = match (from.is_real(), to.is_real()) {
        (false, false) => rounding.is_none() && integral.is_none(),
        (true, false) => rounding.is_none() && integral.is_some(),
        _ if narrows => rounding.is_some() && integral.is_none(),
        _ => rounding.is_none() && (integral.is_none() || from == to),
    };
    let predicates = from == Type::PREDICATE || to == Type::PREDICATE;
    if !fits || predicates || from.pair || (to.pair && from != Type::F32) {
        return Err(
            opcode.fault(ParseProblem::Unsupported("this rounding or these types of cvt".into()))
        );
    }
    let rounding = rounding.or(integral).unwrap_or(Rounding::Nearest);
    let integral = integral.is_some();
    let function = ValueFunction::Convert(Conversion {
        from,
        to,
        rounding,
        integral,
        saturate,
        flush,
        rectify,
    });
    if to.pair {
        return compute(emitter, opcode, function, from, 32, &[from, from]);
    }
    let [target, source] = opcode.arguments()?;
    let target = if to.is_real() {
        emitter.target(opcode, target, to.width())?
    } else {
        emitter.wide_target(opcode, target, to.width())?
    };
    let source = emitter.wide_source(opcode, source, from)?;
    let zero = Operand::Immediate(0);
    Ok(Operation::Compute { function, kind: from, target, sources: [source, zero, zero, zero] })
}

fn comparison(opcode: &mut Opcode<'_, '_>, kind: Type) -> Option<(CompareOperator, bool, Class)> {
    use CompareOperator as C;
    let ordered = [
        ("eq", C::Equal),
        ("ne", C::NotEqual),
        ("lt", C::Less),
        ("le", C::LessEqual),
        ("gt", C::Greater),
        ("ge", C::GreaterEqual),
    ];
    let unordered = [
        ("equ", C::Equal),
        ("neu", C::NotEqual),
        ("ltu", C::Less),
        ("leu", C::LessEqual),
        ("gtu", C::Greater),
        ("geu", C::GreaterEqual),
        ("nan", C::NotNumber),
    ];
    let unsigned =
        [("lo", C::Less), ("ls", C::LessEqual), ("hi", C::Greater), ("hs", C::GreaterEqual)];
    if let Some(found) = opcode.pick(&ordered) {
        let bits_allow = kind.class != Class::Bits || matches!(found, C::Equal | C::NotEqual);
        return bits_allow.then_some((found, false, kind.class));
    }
    if kind.is_real() {
        let found = opcode.pick(&unordered).map(|found| (found, true, kind.class));
        return found.or_else(|| opcode.take("num").then_some((C::Number, false, kind.class)));
    }
    opcode.pick(&unsigned).map(|found| (found, false, Class::Unsigned))
}

/// The bits of 1.0.
fn one(kind: Type) -> u64 {
    crate::real::format(kind).round(1.0, Rounding::Nearest)
}

fn test<'a>(emitter: &mut Emitter<'_, 'a>, opcode: &mut Opcode<'_, 'a>) -> ParseResult<Operation> {
    let is_set = opcode.name == "set";
    let result = if is_set { Some(opcode.kind()?) } else { None };
    let kind = opcode.kind()?;
    let pairs = kind.pair && is_set;
    if (kind.pair && !pairs) || kind == Type::PREDICATE || kind.bits == 8 {
        return Err(opcode.unsupported());
    }
    let (comparison, unordered, class) =
        comparison(opcode, kind).ok_or_else(|| opcode.unsupported())?;
    let joined = opcode.pick(&[("and", Join::And), ("or", Join::Or), ("xor", Join::Xor)]);
    let flush = kind.is_real() && kind.bits < 64 && opcode.take("ftz");
    opcode.finish()?;
    let test = CompareTest { comparison, unordered, flush, kind: Type { class, ..kind } };
    let (targets, a, b, other) = match (opcode.line.arguments.as_slice(), joined) {
        ([targets, a, b], None) => (targets, a, b, None),
        ([targets, a, b, other], Some(joined)) => (targets, a, b, Some((joined, other))),
        _ => return Err(opcode.fault(ParseProblem::Syntax("another number of operands is needed"))),
    };
    let sources = [emitter.source(opcode, a, kind)?, emitter.source(opcode, b, kind)?];
    let join = match other {
        None => None,
        Some((joined, other)) => Some((joined, emitter.source(opcode, other, Type::PREDICATE)?)),
    };
    if let Some(result) = result {
        // A half's result is a half, a pair's a pair or a mask of 16 bits for each.
        let alike = result == kind && kind.bits == 16;
        let word = result.width() == 32 && !result.pair && (!kind.pair || !result.is_real());
        if !(alike || word) || (kind.pair && join.is_some()) {
            return Err(opcode.fault(ParseProblem::Unsupported("this type of set".into())));
        }
        let target = emitter.target(opcode, targets, result.width())?;
        let yes = if result.is_real() { one(result.single()) } else { u64::MAX };
        return Ok(Operation::Set { test, join, target, yes, sources });
    }
    let targets = match targets {
        SyntaxArgument::Pair(first, second) => [
            emitter.target_or_none(opcode, &SyntaxArgument::Word(first), 1)?,
            emitter.target_or_none(opcode, &SyntaxArgument::Word(second), 1)?,
        ],
        single => [Some(emitter.target(opcode, single, 1)?), None],
    };
    Ok(Operation::Test { test, join, targets, sources })
}
