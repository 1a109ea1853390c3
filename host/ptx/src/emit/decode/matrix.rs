//! Matrix instructions, and copies to shared memory.

use crate::emit::Emitter;
use crate::error::{ParseProblem, ParseResult};
use crate::fragment::{
    Fragment, FragmentLayout, MatrixAccess, MatrixElement, MatrixLines, MatrixProduct, MatrixRole,
    MatrixShape,
};
use crate::narrow::ByteFloat;
use crate::opcode::Opcode;
use crate::operand::{Operand, Register, Space, Type};
use crate::program::{CopyAsync, Operation};
use crate::syntax::SyntaxArgument;

const ELEMENTS: &[(&str, MatrixElement)] = &[
    ("f16", MatrixElement::Half),
    ("bf16", MatrixElement::Brain),
    ("tf32", MatrixElement::Tf32),
    ("f32", MatrixElement::Single),
    ("f64", MatrixElement::Double),
    ("e4m3", MatrixElement::Byte(ByteFloat::E4m3)),
    ("e5m2", MatrixElement::Byte(ByteFloat::E5m2)),
    ("u8", MatrixElement::Unsigned8),
    ("s8", MatrixElement::Signed8),
    ("s32", MatrixElement::Signed32),
];

const fn shape(m: usize, n: usize, k: usize) -> MatrixShape {
    MatrixShape { m, n, k }
}

const SHAPES: &[(&str, MatrixShape)] = &[
    ("m8n8k4", shape(8, 8, 4)),
    ("m8n8k16", shape(8, 8, 16)),
    ("m16n8k4", shape(16, 8, 4)),
    ("m16n8k8", shape(16, 8, 8)),
    ("m16n8k16", shape(16, 8, 16)),
    ("m16n8k32", shape(16, 8, 32)),
    ("m16n16k16", shape(16, 16, 16)),
    ("m16n16k8", shape(16, 16, 8)),
    ("m32n8k16", shape(32, 8, 16)),
    ("m8n32k16", shape(8, 32, 16)),
];

/// Whether PTX has a product of this shape over these elements.
fn exists(layout: FragmentLayout, shape: MatrixShape, left: MatrixElement) -> bool {
    use MatrixElement as E;
    let MatrixShape { m, n, k } = shape;
    if layout == FragmentLayout::Wmma {
        return match left {
            E::Half | E::Brain | E::Unsigned8 | E::Signed8 => {
                matches!((m, n, k), (16, 16, 16) | (32, 8, 16) | (8, 32, 16))
            }
            E::Tf32 => (m, n, k) == (16, 16, 8),
            E::Double => (m, n, k) == (8, 8, 4),
            _ => false,
        };
    }
    match left {
        E::Half | E::Brain => matches!((m, n, k), (16, 8, 8 | 16)),
        E::Tf32 => matches!((m, n, k), (16, 8, 4 | 8)),
        E::Unsigned8 | E::Signed8 => matches!((m, n, k), (8, 8, 16) | (16, 8, 16 | 32)),
        E::Byte(_) => (m, n, k) == (16, 8, 32),
        E::Double => (m, n, k) == (8, 8, 4),
        _ => false,
    }
}

/// Whether sums of such products may be of this element.
fn sums(left: MatrixElement, right: MatrixElement, sum: MatrixElement) -> bool {
    use MatrixElement as E;
    match (left, right) {
        (E::Half, E::Half) | (E::Byte(_), E::Byte(_)) => matches!(sum, E::Half | E::Single),
        (E::Brain, E::Brain) | (E::Tf32, E::Tf32) => sum == E::Single,
        (E::Double, E::Double) => sum == E::Double,
        (E::Signed8 | E::Unsigned8, E::Signed8 | E::Unsigned8) => sum == E::Signed32,
        _ => false,
    }
}

pub fn matrix<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    match opcode.name {
        "mma" => product(emitter, opcode, FragmentLayout::Mma),
        "wmma" => {
            if opcode.take("mma") {
                product(emitter, opcode, FragmentLayout::Wmma)
            } else {
                lines(emitter, opcode)
            }
        }
        "movmatrix" => {
            let known =
                ["sync", "aligned", "m8n8", "trans", "b16"].iter().all(|word| opcode.take(word));
            if !known {
                return Err(opcode.unsupported());
            }
            opcode.finish()?;
            let [target, source] = opcode.arguments()?;
            let source = emitter.source(opcode, source, Type::U32)?;
            Ok(Operation::Transpose { target: emitter.target(opcode, target, 32)?, source })
        }
        _ => rows(emitter, opcode),
    }
}

/// The words of an opcode in `choices`, in their order.
fn elements(opcode: &mut Opcode<'_, '_>) -> Vec<MatrixElement> {
    let mut found = Vec::new();
    while let Some(element) = opcode.first(ELEMENTS) {
        found.push(element);
    }
    found
}

fn product<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
    layout: FragmentLayout,
) -> ParseResult<Operation> {
    let together = opcode.take("sync") && opcode.take("aligned");
    let shape = opcode.pick(SHAPES).filter(|_| together).ok_or_else(|| opcode.unsupported())?;
    // A fragment of `wmma` holds the matrix, however it was stored.
    let orders = [
        opcode.first(&[("row", true), ("col", false)]),
        opcode.first(&[("row", true), ("col", false)]),
    ];
    let ordered = match layout {
        FragmentLayout::Mma => orders == [Some(true), Some(false)],
        FragmentLayout::Wmma => !orders.contains(&None),
    };
    let named = elements(opcode);
    let (result, left, right, sum) = match named.as_slice() {
        [result, left, right, sum] => (*result, *left, *right, *sum),
        // `wmma.mma` over halves names the sums alone.
        [result, sum] if layout == FragmentLayout::Wmma => {
            (*result, MatrixElement::Half, MatrixElement::Half, *sum)
        }
        _ => return Err(opcode.unsupported()),
    };
    let saturate = sum == MatrixElement::Signed32 && opcode.take("satfinite");
    if sum == MatrixElement::Double {
        opcode.take("rn");
    }
    opcode.finish()?;
    let mixed = layout == FragmentLayout::Wmma || result == sum;
    let fits = exists(layout, shape, left) && sums(left, right, sum) && sums(left, right, result);
    if !ordered || !fits || !mixed {
        let problem = "a matrix product of this shape, order or type";
        return Err(opcode.fault(ParseProblem::Unsupported(problem.into())));
    }
    let part = |role, element| Fragment { role, element, shape, layout };
    let [left, right, sum] =
        [part(MatrixRole::Left, left), part(MatrixRole::Right, right), part(MatrixRole::Sum, sum)];
    let [targets, a, b, c] = opcode.arguments()?;
    let result_part = Fragment { element: result, ..sum };
    let targets = fragment_targets(emitter, opcode, result_part, targets)?;
    let sources = [
        fragment_sources(emitter, opcode, left, a)?,
        fragment_sources(emitter, opcode, right, b)?,
        fragment_sources(emitter, opcode, sum, c)?,
    ];
    let product = MatrixProduct { left, right, sum, result, saturate, targets, sources };
    Ok(Operation::Product(Box::new(product)))
}

fn vector<'s, 'a>(
    opcode: &Opcode<'_, 'a>,
    argument: &'s SyntaxArgument<'a>,
    count: usize,
) -> ParseResult<&'s [SyntaxArgument<'a>]> {
    let parts = match argument {
        SyntaxArgument::Vector(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    if parts.len() == count {
        Ok(parts)
    } else {
        Err(opcode.fault(ParseProblem::Syntax("the vector has another length")))
    }
}

fn register_kind(bits: u32) -> Type {
    Type { bits, ..Type::U32 }
}

fn registers<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &Opcode<'_, 'a>,
    argument: &SyntaxArgument<'a>,
    count: usize,
    bits: u32,
) -> ParseResult<Vec<Register>> {
    let parts = vector(opcode, argument, count)?;
    parts.iter().map(|part| emitter.target(opcode, part, bits)).collect()
}

fn operands<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &Opcode<'_, 'a>,
    argument: &SyntaxArgument<'a>,
    count: usize,
    bits: u32,
) -> ParseResult<Vec<Operand>> {
    let parts = vector(opcode, argument, count)?;
    let read = |part: &SyntaxArgument<'a>| match part {
        // A literal float is no literal of an unsigned number.
        SyntaxArgument::Word(word) if word.starts_with("0f") || word.starts_with("0F") => {
            emitter.source(opcode, part, Type::F32)
        }
        _ => emitter.source(opcode, part, register_kind(bits)),
    };
    parts.iter().map(read).collect()
}

fn fragment_targets<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &Opcode<'_, 'a>,
    fragment: Fragment,
    argument: &SyntaxArgument<'a>,
) -> ParseResult<Vec<Register>> {
    let bits = fragment.element.register_bits();
    registers(emitter, opcode, argument, fragment.registers(), bits)
}

fn fragment_sources<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &Opcode<'_, 'a>,
    fragment: Fragment,
    argument: &SyntaxArgument<'a>,
) -> ParseResult<Vec<Operand>> {
    let bits = fragment.element.register_bits();
    operands(emitter, opcode, argument, fragment.registers(), bits)
}

/// `wmma.load` and `wmma.store`
fn lines<'a>(emitter: &mut Emitter<'_, 'a>, opcode: &mut Opcode<'_, 'a>) -> ParseResult<Operation> {
    let loads = opcode.pick(&[("load", true), ("store", false)]);
    let role = opcode.pick(&[
        ("a", MatrixRole::Left),
        ("b", MatrixRole::Right),
        ("c", MatrixRole::Sum),
        ("d", MatrixRole::Sum),
    ]);
    let together = opcode.take("sync") && opcode.take("aligned");
    let shape = opcode.pick(SHAPES).filter(|_| together);
    let rows = opcode.pick(&[("row", true), ("col", false)]);
    let space = opcode.space().unwrap_or(Space::Generic);
    let element = opcode.first(ELEMENTS);
    let (Some(loads), Some(role), Some(shape), Some(rows), Some(element)) =
        (loads, role, shape, rows, element)
    else {
        return Err(opcode.unsupported());
    };
    opcode.finish()?;
    let layout = FragmentLayout::Wmma;
    let fits = match role {
        MatrixRole::Sum => match element {
            MatrixElement::Half => exists(layout, shape, MatrixElement::Half),
            MatrixElement::Single => {
                exists(layout, shape, MatrixElement::Half)
                    || exists(layout, shape, MatrixElement::Tf32)
            }
            MatrixElement::Signed32 => exists(layout, shape, MatrixElement::Signed8),
            MatrixElement::Double => exists(layout, shape, element),
            _ => false,
        },
        _ => exists(layout, shape, element),
    };
    if !fits || !matches!(space, Space::Generic | Space::Global | Space::Shared) {
        let problem = "a matrix of this shape, type or state space";
        return Err(opcode.fault(ParseProblem::Unsupported(problem.into())));
    }
    let fragment = Fragment { role, element, shape, layout };
    let (first, second, stride) = match opcode.line.arguments.as_slice() {
        [first, second] => (first, second, None),
        [first, second, stride] => {
            (first, second, Some(emitter.source(opcode, stride, Type::U32)?))
        }
        _ => return Err(opcode.fault(ParseProblem::Syntax("another number of operands is needed"))),
    };
    let (held, address) = if loads { (first, second) } else { (second, first) };
    let address = emitter.address(opcode, address, space)?;
    let lines = MatrixLines { address, stride, rows };
    let access = if loads {
        let targets = fragment_targets(emitter, opcode, fragment, held)?;
        MatrixAccess::Load { fragment, lines, targets }
    } else {
        let sources = fragment_sources(emitter, opcode, fragment, held)?;
        MatrixAccess::Store { fragment, lines, sources }
    };
    Ok(Operation::MatrixAccess(Box::new(access)))
}

/// `ldmatrix` and `stmatrix`
fn rows<'a>(emitter: &mut Emitter<'_, 'a>, opcode: &mut Opcode<'_, 'a>) -> ParseResult<Operation> {
    let known = ["sync", "aligned", "m8n8", "b16"].iter().all(|word| opcode.take(word));
    let count = opcode.pick(&[("x1", 1), ("x2", 2), ("x4", 4)]);
    let transposed = opcode.take("trans");
    let space = opcode.space().unwrap_or(Space::Generic);
    let Some(count) = count.filter(|_| known && matches!(space, Space::Generic | Space::Shared))
    else {
        return Err(opcode.unsupported());
    };
    opcode.finish()?;
    let [first, second] = opcode.arguments()?;
    let access = if opcode.name == "ldmatrix" {
        let address = emitter.address(opcode, second, space)?;
        let targets = registers(emitter, opcode, first, count, 32)?;
        MatrixAccess::LoadRows { address, targets, transposed }
    } else {
        let address = emitter.address(opcode, first, space)?;
        let sources = operands(emitter, opcode, second, count, 32)?;
        MatrixAccess::StoreRows { address, sources, transposed }
    };
    Ok(Operation::MatrixAccess(Box::new(access)))
}

/// `cp.async` and its waits; bulk copies and arrivals at an `mbarrier` are refused.
pub fn copy<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    if !opcode.take("async") {
        return Err(opcode.unsupported());
    }
    if opcode.take("commit_group") {
        opcode.finish()?;
        opcode.arguments::<0>()?;
        return Ok(Operation::CopyCommit);
    }
    if opcode.take("wait_all") {
        opcode.finish()?;
        opcode.arguments::<0>()?;
        return Ok(Operation::CopyWait { groups: None });
    }
    if opcode.take("wait_group") {
        opcode.finish()?;
        let [groups] = opcode.arguments()?;
        let Operand::Immediate(groups) = emitter.source(opcode, groups, Type::U32)? else {
            return Err(opcode.fault(ParseProblem::Syntax("a number was expected")));
        };
        return Ok(Operation::CopyWait { groups: Some(groups) });
    }
    let cached = opcode.pick(&[("ca", true), ("cg", false)]);
    let shared = opcode.take("shared") || opcode.take("shared::cta");
    let global = opcode.take("global");
    opcode.take_any(&["L2::64B", "L2::128B", "L2::256B"]);
    let Some(cached) = cached.filter(|_| shared && global) else {
        return Err(opcode.unsupported());
    };
    opcode.finish()?;
    let (to, from, bytes, read) = match opcode.line.arguments.as_slice() {
        [to, from, bytes] => (to, from, bytes, None),
        [to, from, bytes, read] => {
            (to, from, bytes, Some(emitter.source(opcode, read, Type::U32)?))
        }
        _ => return Err(opcode.fault(ParseProblem::Syntax("another number of operands is needed"))),
    };
    let Operand::Immediate(bytes) = emitter.source(opcode, bytes, Type::U32)? else {
        return Err(opcode.fault(ParseProblem::Syntax("a number was expected")));
    };
    if !(bytes == 16 || (cached && matches!(bytes, 4 | 8))) {
        return Err(opcode.fault(ParseProblem::Syntax("a copy has 4, 8 or 16 bytes")));
    }
    let to = emitter.address(opcode, to, Space::Shared)?;
    let from = emitter.address(opcode, from, Space::Global)?;
    Ok(Operation::CopyAsync(CopyAsync { to, from, bytes: bytes as u8, read }))
}
