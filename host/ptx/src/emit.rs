//! A kernel's statements into its program: storage is laid out, labels are resolved, and the functions
//! it calls are put in place of the calls, each with registers of its own.

mod decode;
mod names;

use std::collections::BTreeMap;

use crate::emit::decode::decode;
use crate::emit::names::{Binding, NameScope};
use crate::error::{ParseError, ParseProblem, ParseResult};
use crate::limits::{
    CALL_DEPTH_MAX, INSTRUCTIONS_MAX, LOCAL_BYTES_MAX, LOOKED_UP_BYTES_MAX, REGISTERS_MAX,
    STATEMENTS_MAX, STATIC_SHARED_BYTES_MAX,
};
use crate::opcode::Opcode;
use crate::operand::{Register, Space};
use crate::program::{Instruction, Operation, PrintCall, PtxProgram};
use crate::syntax::{FunctionSyntax, InstructionLine, PtxStatement, SyntaxArgument, Variable};

/// The names that all kernels of a module share.
pub struct Names<'u, 'a> {
    pub functions: BTreeMap<&'a str, &'u FunctionSyntax<'a>>,
    /// The variables, with the index of the storage of those in global and constant memory.
    pub variables: BTreeMap<&'a str, (&'u Variable<'a>, usize)>,
}

pub struct Emitter<'u, 'a> {
    names: &'u Names<'u, 'a>,
    pub(crate) scopes: Vec<NameScope<'a>>,
    instructions: Vec<Instruction>,
    left: EmitLimits,
    registers: u32,
    registers_max: u32,
    frame: u64,
    frame_max: u64,
    shared: u64,
    /// The addresses of shared variables by function, line and name: all calls of a function share them.
    shared_at: BTreeMap<(&'a str, u32, &'a str), u64>,
    calls: Vec<&'a str>,
}

/// The instructions and statements that the kernels of a module may still have together, and the bytes of names that
/// may still be looked up.
#[derive(Clone, Copy)]
pub struct EmitLimits {
    pub instructions: usize,
    pub statements: usize,
    pub looked_up_bytes: usize,
}

impl EmitLimits {
    pub const ALL: Self = Self {
        instructions: INSTRUCTIONS_MAX,
        statements: STATEMENTS_MAX,
        looked_up_bytes: LOOKED_UP_BYTES_MAX,
    };
}

/// Places of one function that wait for an instruction's number.
#[derive(Default)]
struct BranchTargets<'a> {
    labels: BTreeMap<&'a str, usize>,
    branches: Vec<(usize, &'a str)>,
    returns: Vec<usize>,
}

pub fn kernel<'a>(
    names: &Names<'_, 'a>,
    function: &FunctionSyntax<'a>,
    params: &[u64],
    left: &mut EmitLimits,
) -> ParseResult<PtxProgram> {
    let mut emitter = Emitter {
        names,
        scopes: Vec::new(),
        instructions: Vec::new(),
        left: *left,
        registers: 0,
        registers_max: 0,
        frame: 0,
        frame_max: 0,
        shared: 0,
        shared_at: BTreeMap::new(),
        calls: Vec::new(),
    };
    let bound =
        function.params.iter().zip(params).map(|(param, at)| (param.name, Binding::Param(*at)));
    let line = emitter.function(function, bound.collect())?;
    emitter.push(Instruction { line, guard: None, operation: Operation::Exit })?;
    *left = emitter.left;
    Ok(PtxProgram {
        instructions: emitter.instructions,
        registers: emitter.registers_max,
        local_bytes: emitter.frame_max.next_multiple_of(16),
        static_shared_bytes: emitter.shared,
    })
}

impl<'a> Emitter<'_, 'a> {
    /// Gives the line of its last statement.
    fn function(
        &mut self,
        function: &FunctionSyntax<'a>,
        names: BTreeMap<&'a str, Binding>,
    ) -> ParseResult<u32> {
        let Some(body) = &function.body else {
            let problem = ParseProblem::Unsupported(format!(
                "the function {}, which has no body",
                function.name
            ));
            return Err(ParseError {
                line: function.line,
                text: function.name.to_owned(),
                problem,
            });
        };
        let mut line = function.line;
        let mut flow = BranchTargets::default();
        self.calls.push(function.name);
        self.open(true, names);
        for statement in body {
            self.left.statements = self.left.statements.checked_sub(1).ok_or_else(|| {
                let problem = ParseProblem::Limit("statements", STATEMENTS_MAX as u64);
                at(line, function.name, problem)
            })?;
            match statement {
                PtxStatement::Open => self.open(false, BTreeMap::new()),
                PtxStatement::Close => self.close(),
                PtxStatement::Registers { line, name, count, kind } => {
                    self.declare_registers(*line, name, *count, kind.width())?;
                }
                PtxStatement::Variable(variable) => self.declare(variable)?,
                PtxStatement::Label { line, name } => {
                    if flow.labels.insert(name, self.instructions.len()).is_some() {
                        return Err(at(
                            *line,
                            name,
                            ParseProblem::Syntax("this label exists twice"),
                        ));
                    }
                }
                PtxStatement::Instruction(instruction) => {
                    line = instruction.line;
                    self.instruction(instruction, &mut flow)?;
                }
            }
        }
        self.close();
        self.calls.pop();
        self.resolve(flow)?;
        Ok(line)
    }

    fn resolve(&mut self, flow: BranchTargets<'a>) -> ParseResult<()> {
        for (from, label) in flow.branches {
            let line = self.instructions[from].line;
            let to = flow.labels.get(label);
            let to = *to.ok_or_else(|| at(line, label, ParseProblem::Unknown(label.to_owned())))?;
            self.instructions[from].operation = Operation::Branch { to };
        }
        let end = self.instructions.len();
        for from in flow.returns {
            self.instructions[from].operation = Operation::Branch { to: end };
        }
        Ok(())
    }

    fn open(&mut self, is_function: bool, names: BTreeMap<&'a str, Binding>) {
        let (registers_before, frame_before) = (self.registers, self.frame);
        self.scopes.push(NameScope { names, is_function, registers_before, frame_before });
    }

    fn close(&mut self) {
        let scope = self.scopes.pop().expect("the parser balances braces");
        self.registers = scope.registers_before;
        self.frame = scope.frame_before;
    }

    fn bind(&mut self, line: u32, name: &'a str, binding: Binding) -> ParseResult<()> {
        let scope = self.scopes.last_mut().expect("declarations stand in functions");
        match scope.names.insert(name, binding) {
            None => Ok(()),
            Some(_) => Err(at(line, name, ParseProblem::Syntax("this name exists twice"))),
        }
    }

    fn declare_registers(
        &mut self,
        line: u32,
        name: &'a str,
        count: Option<u32>,
        bits: u32,
    ) -> ParseResult<()> {
        let first = Register { slot: self.registers, bits };
        self.registers = self.registers.saturating_add(count.unwrap_or(1));
        if self.registers > REGISTERS_MAX {
            return Err(at(line, name, ParseProblem::Limit("registers", u64::from(REGISTERS_MAX))));
        }
        self.registers_max = self.registers_max.max(self.registers);
        let binding = match count {
            Some(count) => Binding::Registers { first, count },
            None => Binding::Register(first),
        };
        self.bind(line, name, binding)
    }

    fn declare(&mut self, variable: &Variable<'a>) -> ParseResult<()> {
        let binding = if variable.space == Space::Shared {
            let function = *self.calls.last().expect("declarations stand in functions");
            self.place_in_shared(function, variable)?
        } else {
            let start = self.frame.next_multiple_of(variable.align.max(1));
            self.frame = start + variable.bytes;
            if self.frame > LOCAL_BYTES_MAX {
                return Err(at(
                    variable.line,
                    variable.name,
                    ParseProblem::Limit("bytes of local memory", LOCAL_BYTES_MAX),
                ));
            }
            self.frame_max = self.frame_max.max(self.frame);
            if variable.space == Space::Param {
                Binding::CallParam(start)
            } else {
                Binding::Frame(start)
            }
        };
        self.bind(variable.line, variable.name, binding)
    }

    fn place_in_shared(
        &mut self,
        function: &'a str,
        variable: &Variable<'a>,
    ) -> ParseResult<Binding> {
        if variable.open {
            return Ok(Binding::DynamicShared);
        }
        if let Some(start) = self.shared_at.get(&(function, variable.line, variable.name)) {
            return Ok(Binding::Shared(*start));
        }
        let start = self.shared.next_multiple_of(variable.align.max(1));
        self.shared = start + variable.bytes;
        if self.shared > STATIC_SHARED_BYTES_MAX {
            let problem =
                ParseProblem::Limit("bytes of static shared memory", STATIC_SHARED_BYTES_MAX);
            return Err(at(variable.line, variable.name, problem));
        }
        self.shared_at.insert((function, variable.line, variable.name), start);
        Ok(Binding::Shared(start))
    }

    /// Shared variables of the module take room in the kernels that use them.
    pub(crate) fn module_variable(&mut self, name: &'a str) -> ParseResult<Option<Binding>> {
        match self.names.variables.get(name) {
            None => Ok(None),
            Some((variable, _)) if variable.space == Space::Shared => {
                self.place_in_shared("", variable).map(Some)
            }
            Some((variable, index)) => Ok(Some(Binding::Symbol(*index, variable.space))),
        }
    }

    fn push(&mut self, instruction: Instruction) -> ParseResult<usize> {
        self.left.instructions = self.left.instructions.checked_sub(1).ok_or_else(|| {
            let problem = ParseProblem::Limit("instructions", INSTRUCTIONS_MAX as u64);
            at(instruction.line, "", problem)
        })?;
        self.instructions.push(instruction);
        Ok(self.instructions.len() - 1)
    }

    fn instruction(
        &mut self,
        line: &InstructionLine<'a>,
        flow: &mut BranchTargets<'a>,
    ) -> ParseResult<()> {
        let mut opcode = Opcode::new(line)?;
        let guard = match line.guard {
            None => None,
            Some((name, negated)) => {
                let register = self.register(&opcode, name)?;
                if register.bits != 1 {
                    return Err(opcode.fault(ParseProblem::Syntax("a guard is a predicate")));
                }
                Some((register.slot, negated))
            }
        };
        let place = |operation| Instruction { line: line.line, guard, operation };
        match opcode.name {
            "bra" => {
                opcode.take("uni");
                opcode.finish()?;
                let [SyntaxArgument::Word(label)] = opcode.arguments()? else {
                    return Err(opcode.fault(ParseProblem::Syntax("a label was expected")));
                };
                let from = self.push(place(Operation::Nothing))?;
                flow.branches.push((from, label));
            }
            "ret" => {
                opcode.take("uni");
                opcode.finish()?;
                opcode.arguments::<0>()?;
                let is_kernel = self.calls.len() == 1;
                let from =
                    self.push(place(if is_kernel { Operation::Exit } else { Operation::Nothing }))?;
                if !is_kernel {
                    flow.returns.push(from);
                }
            }
            "call" => {
                opcode.take("uni");
                opcode.finish()?;
                // Around the function's body for those lanes that do not call it.
                let inverted = guard.map(|(slot, negated)| (slot, !negated));
                let over =
                    Instruction { line: line.line, guard: inverted, operation: Operation::Nothing };
                let around = if guard.is_some() { Some(self.push(over)?) } else { None };
                self.call(&opcode)?;
                if let Some(from) = around {
                    let to = self.instructions.len();
                    self.instructions[from].operation = Operation::Branch { to };
                }
            }
            _ => {
                let operation = decode(self, &mut opcode)?;
                self.push(place(operation))?;
            }
        }
        Ok(())
    }

    fn call(&mut self, opcode: &Opcode<'_, 'a>) -> ParseResult<()> {
        let (returns, name, params) = match opcode.line.arguments.as_slice() {
            [SyntaxArgument::Word(name)] => (&[][..], *name, &[][..]),
            [SyntaxArgument::Word(name), SyntaxArgument::List(params)] => {
                (&[][..], *name, &params[..])
            }
            [SyntaxArgument::List(returns), SyntaxArgument::Word(name)] => {
                (&returns[..], *name, &[][..])
            }
            [
                SyntaxArgument::List(returns),
                SyntaxArgument::Word(name),
                SyntaxArgument::List(params),
            ] => (&returns[..], *name, &params[..]),
            _ => return Err(opcode.fault(ParseProblem::Unsupported("calls by pointer".into()))),
        };
        if let Some(operation) = self.library_call(opcode, name, returns, params)? {
            let line = opcode.line.line;
            return self.push(Instruction { line, guard: None, operation }).map(drop);
        }
        let Some(function) = self.names.functions.get(name).copied() else {
            return Err(opcode.fault(ParseProblem::Unsupported(format!(
                "a call of {name}, which is no function here"
            ))));
        };
        if self.calls.contains(&name) || self.calls.len() >= CALL_DEPTH_MAX {
            return Err(
                opcode.fault(ParseProblem::Unsupported("recursive or very deep calls".into()))
            );
        }
        if function.body.is_none() || function.is_kernel {
            return Err(opcode.fault(ParseProblem::Unsupported(format!(
                "a call of {name}, which has no body here"
            ))));
        }
        if function.returns.len() != returns.len() || function.params.len() != params.len() {
            return Err(opcode.fault(ParseProblem::Syntax("the function has other parameters")));
        }
        // A parameter is the caller's variable itself: the callee must not write what it is given.
        let formal = function.returns.iter().chain(&function.params);
        let mut names = BTreeMap::new();
        for (formal, actual) in formal.zip(returns.iter().chain(params)) {
            let binding = self.lookup(opcode, actual)?;
            self.count_lookup(opcode, formal.name)?;
            if !matches!(binding, Binding::CallParam(_)) {
                return Err(opcode.fault(ParseProblem::Unsupported(
                    "arguments that are no .param variables".into(),
                )));
            }
            names.insert(formal.name, binding);
        }
        self.function(function, names).map(drop)
    }
}

impl<'a> Emitter<'_, 'a> {
    /// The functions that the device itself has: `printf`, and `assert` that failed.
    fn library_call(
        &mut self,
        opcode: &Opcode<'_, 'a>,
        name: &str,
        returns: &[&'a str],
        params: &[&'a str],
    ) -> ParseResult<Option<Operation>> {
        let has_body =
            |name| self.names.functions.get(name).is_some_and(|known| known.body.is_some());
        if has_body(name) {
            return Ok(None);
        }
        let mut offset = |name: &'a str| match self.lookup(opcode, name)? {
            Binding::CallParam(at) => Ok(at),
            _ => Err(opcode.fault(ParseProblem::Syntax("an argument is a .param variable"))),
        };
        match (name, returns, params) {
            ("vprintf", [] | [_], [format, arguments]) => {
                let result = returns.first().copied().map(&mut offset).transpose()?;
                let (format, arguments) = (offset(format)?, offset(arguments)?);
                Ok(Some(Operation::Print(PrintCall { format, arguments, result })))
            }
            ("__assertfail", [], _) => Ok(Some(Operation::Trap)),
            _ => Ok(None),
        }
    }
}

fn at(line: u32, text: &str, problem: ParseProblem) -> ParseError {
    ParseError { line, text: text.chars().take(120).collect(), problem }
}
