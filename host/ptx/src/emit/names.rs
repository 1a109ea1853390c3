//! The meaning of the names in a function: registers, variables, parameters.

use std::collections::BTreeMap;

use crate::declaration::literal;
use crate::emit::Emitter;
use crate::error::{ParseProblem, ParseResult};
use crate::limits::{LOOKED_UP_BYTES_MAX, LOOKUP_BYTES};
use crate::opcode::Opcode;
use crate::operand::{MemoryOperand, Operand, Register, Space, Special, Type};
use crate::syntax::SyntaxArgument;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Register(Register),
    /// `%r<8>`: eight registers from this one on.
    Registers {
        first: Register,
        count: u32,
    },
    Shared(u64),
    DynamicShared,
    /// In local memory.
    Frame(u64),
    /// In local memory too: what a call is given or gives. Its address is not to be had.
    CallParam(u64),
    /// A parameter of the kernel.
    Param(u64),
    Symbol(usize, Space),
}

#[derive(Debug, Default)]
pub struct NameScope<'a> {
    pub names: BTreeMap<&'a str, Binding>,
    /// The caller's names are not seen from here.
    pub is_function: bool,
    pub registers_before: u32,
    pub frame_before: u64,
}

impl NameScope<'_> {
    fn find(&self, name: &str) -> Option<Binding> {
        match self.names.get(name) {
            Some(Binding::Registers { .. }) => return None,
            Some(binding) => return Some(*binding),
            None => {}
        }
        let prefix = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let Some(Binding::Registers { first, count }) = self.names.get(prefix) else {
            return None;
        };
        let digits = &name[prefix.len()..];
        let index: u32 = digits.parse().ok()?;
        let canonical = digits == "0" || !digits.starts_with('0');
        (index < *count && canonical)
            .then_some(Binding::Register(Register { slot: first.slot + index, bits: first.bits }))
    }
}

impl<'a> Emitter<'_, 'a> {
    pub fn lookup(&mut self, opcode: &Opcode<'_, 'a>, name: &'a str) -> ParseResult<Binding> {
        for at in (0..self.scopes.len()).rev() {
            self.count_lookup(opcode, name)?;
            let scope = &self.scopes[at];
            if let Some(binding) = scope.find(name) {
                return Ok(binding);
            }
            if scope.is_function {
                break;
            }
        }
        match self.module_variable(name)? {
            Some(binding) => Ok(binding),
            None => Err(opcode.fault(ParseProblem::Unknown(name.chars().take(120).collect()))),
        }
    }

    /// Counts one more look at the names of a scope.
    pub fn count_lookup(&mut self, opcode: &Opcode<'_, 'a>, name: &str) -> ParseResult<()> {
        let left = self.left.looked_up_bytes.checked_sub(name.len() + LOOKUP_BYTES);
        self.left.looked_up_bytes = left.ok_or_else(|| {
            let most = LOOKED_UP_BYTES_MAX as u64;
            opcode.fault(ParseProblem::Limit("bytes of names that are looked up", most))
        })?;
        Ok(())
    }

    pub fn register(&mut self, opcode: &Opcode<'_, 'a>, name: &'a str) -> ParseResult<Register> {
        match self.lookup(opcode, name)? {
            Binding::Register(register) => Ok(register),
            _ => Err(opcode.fault(ParseProblem::Syntax("a register was expected"))),
        }
    }

    pub fn target(
        &mut self,
        opcode: &Opcode<'_, 'a>,
        argument: &SyntaxArgument<'a>,
        bits: u32,
    ) -> ParseResult<Register> {
        let register = self.wide_target(opcode, argument, bits)?;
        if register.bits == bits { Ok(register) } else { Err(opcode.fault(WIDTH)) }
    }

    /// A register of these bits or more, as `ld` and `cvt` allow.
    pub fn wide_target(
        &mut self,
        opcode: &Opcode<'_, 'a>,
        argument: &SyntaxArgument<'a>,
        bits: u32,
    ) -> ParseResult<Register> {
        let SyntaxArgument::Word(name) = argument else {
            return Err(opcode.fault(ParseProblem::Syntax("a register was expected")));
        };
        let register = self.register(opcode, name)?;
        if register.bits >= bits && (bits == 1) == (register.bits == 1) {
            Ok(register)
        } else {
            Err(opcode.fault(WIDTH))
        }
    }

    /// `_` throws a result away.
    pub fn target_or_none(
        &mut self,
        opcode: &Opcode<'_, 'a>,
        argument: &SyntaxArgument<'a>,
        bits: u32,
    ) -> ParseResult<Option<Register>> {
        match argument {
            SyntaxArgument::Word("_") => Ok(None),
            _ => self.wide_target(opcode, argument, bits).map(Some),
        }
    }

    pub fn source(
        &mut self,
        opcode: &Opcode<'_, 'a>,
        argument: &SyntaxArgument<'a>,
        kind: Type,
    ) -> ParseResult<Operand> {
        self.read(opcode, argument, kind, |bits| bits == kind.width())
    }

    pub fn wide_source(
        &mut self,
        opcode: &Opcode<'_, 'a>,
        argument: &SyntaxArgument<'a>,
        kind: Type,
    ) -> ParseResult<Operand> {
        self.read(opcode, argument, kind, |bits| bits >= kind.width())
    }

    fn read(
        &mut self,
        opcode: &Opcode<'_, 'a>,
        argument: &SyntaxArgument<'a>,
        kind: Type,
        fits: impl Fn(u32) -> bool,
    ) -> ParseResult<Operand> {
        let (name, negative) = match argument {
            SyntaxArgument::Word(name) => (*name, false),
            SyntaxArgument::Negative(name) => (*name, true),
            SyntaxArgument::Not(name) if kind == Type::PREDICATE => {
                let register = self.register(opcode, name)?;
                let fits = register.bits == 1;
                return if fits {
                    Ok(Operand::Not(register.slot))
                } else {
                    Err(opcode.fault(WIDTH))
                };
            }
            _ => {
                return Err(
                    opcode.fault(ParseProblem::Syntax("a register or a number was expected"))
                );
            }
        };
        if name.starts_with(|letter: char| letter.is_ascii_digit()) {
            let value = literal(name, negative, kind);
            let value = value.ok_or_else(|| {
                opcode.fault(ParseProblem::Syntax("no such literal of this type"))
            })?;
            return Ok(Operand::Immediate(value));
        }
        if negative {
            return Err(opcode.fault(ParseProblem::Syntax("a number was expected")));
        }
        if let Some(operand) = special(name) {
            return if kind.width() == 32 { Ok(operand) } else { Err(opcode.fault(WIDTH)) };
        }
        match self.lookup(opcode, name)? {
            Binding::Register(register)
                if fits(register.bits) && (register.bits == 1) == (kind.width() == 1) =>
            {
                Ok(Operand::Register(register.slot))
            }
            Binding::Register(_) | Binding::Registers { .. } => Err(opcode.fault(WIDTH)),
            Binding::Shared(at) | Binding::Frame(at) | Binding::Param(at) => {
                Ok(Operand::Immediate(at))
            }
            Binding::CallParam(_) => Err(opcode
                .fault(ParseProblem::Unsupported("the address of a parameter of a call".into()))),
            Binding::DynamicShared => Ok(Operand::DynamicShared),
            Binding::Symbol(index, _) if kind.width() == 64 => Ok(Operand::Symbol(index)),
            Binding::Symbol(..) => Err(opcode.fault(WIDTH)),
        }
    }

    pub fn address(
        &mut self,
        opcode: &Opcode<'_, 'a>,
        argument: &SyntaxArgument<'a>,
        space: Space,
    ) -> ParseResult<MemoryOperand> {
        let SyntaxArgument::Address { base, offset } = argument else {
            return Err(opcode.fault(ParseProblem::Syntax("an address was expected")));
        };
        let offset = *offset;
        if base.starts_with(|letter: char| letter.is_ascii_digit()) {
            let base = literal(base, false, Type { bits: 64, ..Type::U32 });
            let base = base.ok_or_else(|| opcode.fault(ParseProblem::Syntax("no such address")))?;
            return Ok(MemoryOperand { space, base: Operand::Immediate(base), offset });
        }
        let (found, base) = match self.lookup(opcode, base)? {
            Binding::Register(register) if register.bits >= 32 => {
                (space, Operand::Register(register.slot))
            }
            Binding::Register(_) | Binding::Registers { .. } => return Err(opcode.fault(WIDTH)),
            Binding::Shared(at) => (Space::Shared, Operand::Immediate(at)),
            Binding::DynamicShared => (Space::Shared, Operand::DynamicShared),
            Binding::Frame(at) => (Space::Local, Operand::Immediate(at)),
            Binding::CallParam(at) if space == Space::Param => {
                return Ok(MemoryOperand {
                    space: Space::Local,
                    base: Operand::Immediate(at),
                    offset,
                });
            }
            Binding::CallParam(at) => (Space::Param, Operand::Immediate(at)),
            Binding::Param(at) => (Space::Param, Operand::Immediate(at)),
            Binding::Symbol(index, found) => (found, Operand::Symbol(index)),
        };
        // Parameters are read by `ld.param` alone.
        let hidden = found == Space::Param && space != Space::Param;
        if hidden || !(space == Space::Generic || space == found) {
            return Err(
                opcode.fault(ParseProblem::Syntax("the variable is in another state space"))
            );
        }
        Ok(MemoryOperand { space: found, base, offset })
    }
}

const WIDTH: ParseProblem =
    ParseProblem::Syntax("the register has another width than the instruction");

fn special(name: &str) -> Option<Operand> {
    let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| *axis == name);
    if name == "WARP_SZ" {
        return Some(Operand::Immediate(32));
    }
    let special = match name.strip_prefix('%')? {
        "laneid" => Special::Lane,
        "warpid" => Special::Warp,
        "nwarpid" => Special::Warps,
        "lanemask_lt" => Special::LanesBelow,
        "lanemask_le" => Special::LanesUpTo,
        "lanemask_eq" => Special::LanesEqual,
        "lanemask_ge" => Special::LanesFrom,
        "lanemask_gt" => Special::LanesAbove,
        name => match name.split_once('.')? {
            ("tid", name) => Special::Thread(axis(name)?),
            ("ntid", name) => Special::BlockSize(axis(name)?),
            ("ctaid", name) => Special::Block(axis(name)?),
            ("nctaid", name) => Special::GridSize(axis(name)?),
            _ => return None,
        },
    };
    Some(Operand::Special(special))
}
