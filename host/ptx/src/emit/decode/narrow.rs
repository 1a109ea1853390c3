//! Conversions to and from fp8 and `tf32`, and the instructions on bytes.

use crate::emit::Emitter;
use crate::emit::decode::compute;
use crate::error::{ParseProblem, ParseResult};
use crate::float::Rounding;
use crate::narrow::{ByteFloat, NarrowConversion, Tf32Rounding};
use crate::opcode::Opcode;
use crate::operand::Type;
use crate::program::{Operation, ValueFunction};

const B16: Type = Type { bits: 16, ..Type::U32 };

fn pair_of_bytes(opcode: &mut Opcode<'_, '_>) -> Option<ByteFloat> {
    opcode.pick(&[("e4m3x2", ByteFloat::E4m3), ("e5m2x2", ByteFloat::E5m2)])
}

/// `None` for a conversion among other types.
pub fn narrow_conversion<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Option<Operation>> {
    let (conversion, kinds, bits) = if let Some(bytes) = pair_of_bytes(opcode) {
        let rounds = opcode.rounding() == Some(Rounding::Nearest);
        let rectify = opcode.take("relu");
        let finite = opcode.take("satfinite");
        if !rounds {
            return Err(opcode.unsupported());
        }
        let kind = opcode.kind()?;
        if kind == Type::F32 && finite {
            let conversion = NarrowConversion::FromSingles { to: bytes, rectify };
            (conversion, vec![kind, kind], 16)
        } else if Type::parse("f16x2") == Some(kind) && finite {
            (NarrowConversion::FromHalves { to: bytes, rectify }, vec![kind], 16)
        } else if Type::parse("f16x2") == Some(kind) {
            (NarrowConversion::ToHalves { from: bytes, rectify }, vec![B16], 32)
        } else {
            return Err(opcode.unsupported());
        }
    } else if opcode.take("tf32") {
        let mode = opcode.pick(&[
            ("rn", Tf32Rounding::Even),
            ("rna", Tf32Rounding::Away),
            ("rz", Tf32Rounding::Zero),
        ]);
        let rectify = opcode.take("relu");
        let finite = opcode.take("satfinite");
        let Some(mode) = mode.filter(|_| opcode.take("f32")) else {
            return Err(opcode.unsupported());
        };
        (NarrowConversion::ToTf32 { mode, rectify, finite }, vec![Type::F32], 32)
    } else {
        return Ok(None);
    };
    opcode.finish()?;
    let function = ValueFunction::Narrow(conversion);
    compute(emitter, opcode, function, Type::U32, bits, &kinds).map(Some)
}

/// `dp4a`
pub fn dot_product<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let [left, right] = [opcode.kind()?, opcode.kind()?];
    opcode.finish()?;
    let is_word = |kind: Type| kind.bits == 32 && kind.is_integer();
    if !is_word(left) || !is_word(right) {
        let problem = ParseProblem::Unsupported("this type of the instruction".into());
        return Err(opcode.fault(problem));
    }
    let function = ValueFunction::DotProduct([left.is_signed(), right.is_signed()]);
    compute(emitter, opcode, function, Type::U32, 32, &[Type::U32; 3])
}

/// `isspacep`
pub fn space_test<'a>(
    emitter: &mut Emitter<'_, 'a>,
    opcode: &mut Opcode<'_, 'a>,
) -> ParseResult<Operation> {
    let space = opcode.space().ok_or_else(|| opcode.unsupported())?;
    opcode.finish()?;
    let address = Type { bits: 64, ..Type::U32 };
    compute(emitter, opcode, ValueFunction::IsIn(space), address, 1, &[address])
}
