//! An opcode and its modifiers. Each modifier is taken by whoever gives it a meaning; one that nobody
//! took is an error that names it, so no modifier is ever passed over.

use crate::error::{ParseError, ParseProblem};
use crate::float::Rounding;
use crate::limits::MODIFIERS_MAX;
use crate::operand::{Space, Type};
use crate::syntax::{InstructionLine, SyntaxArgument};

pub struct Opcode<'s, 'a> {
    pub line: &'s InstructionLine<'a>,
    pub name: &'a str,
    left: Vec<&'a str>,
}

impl<'s, 'a> Opcode<'s, 'a> {
    pub fn new(line: &'s InstructionLine<'a>) -> Result<Opcode<'s, 'a>, ParseError> {
        let mut words = line.opcode.split('.');
        let name = words.next().unwrap_or("");
        let opcode = Opcode { line, name, left: words.by_ref().take(MODIFIERS_MAX).collect() };
        match words.next() {
            None => Ok(opcode),
            Some(_) => Err(opcode.fault(ParseProblem::Limit("modifiers", MODIFIERS_MAX as u64))),
        }
    }

    pub fn take(&mut self, modifier: &str) -> bool {
        let found = self.left.iter().position(|left| *left == modifier);
        if let Some(at) = found {
            self.left.remove(at);
        }
        found.is_some()
    }

    pub fn take_any(&mut self, modifiers: &[&str]) {
        for modifier in modifiers {
            self.take(modifier);
        }
    }

    pub fn pick<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        let choice = choices.iter().find(|(modifier, _)| self.left.contains(modifier))?;
        self.take(choice.0);
        Some(choice.1)
    }

    /// The first modifier that is left, of those that are choices.
    pub fn first<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        let chosen =
            |left: &&str| choices.iter().find(|(word, _)| word == left).map(|(_, choice)| *choice);
        let at = self.left.iter().position(|left| chosen(left).is_some())?;
        chosen(&self.left.remove(at))
    }

    /// The first type that is left.
    pub fn kind(&mut self) -> Result<Type, ParseError> {
        let at = self.left.iter().position(|left| Type::parse(left).is_some());
        let word = at.map(|at| self.left.remove(at));
        word.and_then(Type::parse).ok_or_else(|| self.unsupported())
    }

    pub fn rounding(&mut self) -> Option<Rounding> {
        self.pick(&[
            ("rn", Rounding::Nearest),
            ("rz", Rounding::Zero),
            ("rm", Rounding::Down),
            ("rp", Rounding::Up),
        ])
    }

    pub fn space(&mut self) -> Option<Space> {
        self.pick(&[
            ("global", Space::Global),
            ("const", Space::Constant),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
            ("local", Space::Local),
            ("param", Space::Param),
            ("param::entry", Space::Param),
            ("param::func", Space::Param),
        ])
    }

    pub fn finish(&self) -> Result<(), ParseError> {
        if self.left.is_empty() { Ok(()) } else { Err(self.unsupported()) }
    }

    pub fn unsupported(&self) -> ParseError {
        let mut what = format!("instruction {}", self.name);
        if !self.left.is_empty() {
            what = format!("{what} with .{}", self.left.join(" ."));
        }
        self.fault(ParseProblem::Unsupported(what))
    }

    pub fn fault(&self, problem: ParseProblem) -> ParseError {
        ParseError {
            line: self.line.line,
            text: self.line.opcode.chars().take(120).collect(),
            problem,
        }
    }

    pub fn arguments<const N: usize>(&self) -> Result<&'s [SyntaxArgument<'a>; N], ParseError> {
        let arguments = self.line.arguments.as_slice();
        arguments
            .try_into()
            .map_err(|_| self.fault(ParseProblem::Syntax("another number of operands is needed")))
    }
}
