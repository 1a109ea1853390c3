//! A module that is checked and ready to be loaded: its kernels and its variables.

use std::collections::BTreeMap;

use crate::emit::{EmitLimits, Names, kernel};
use crate::error::{ParseError, ParseProblem};
use crate::limits::{
    BLOCK_THREADS_MAX, DATA_BYTES_MAX, PARAM_BYTES_MAX, TEXT_BYTES_MAX, WORD_BYTES_MAX,
};
use crate::operand::Space;
use crate::program::PtxProgram;
use crate::syntax::{FunctionSyntax, TranslationUnit, Variable, parse};
use crate::token::tokens;

/// The position of a parameter among the parameters' bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtxParam {
    pub offset: u64,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtxKernelInfo {
    pub name: String,
    pub params: Vec<PtxParam>,
    /// The registers as declared, with those of called functions: PTX counts no real registers.
    pub registers: u32,
    pub static_shared_bytes: u64,
    /// The local memory of a thread, in bytes.
    pub local_bytes: u64,
    /// The static shared memory of a block, in bytes.
    pub max_threads: u32,
}

/// A variable in global or constant memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariableStorage {
    pub name: String,
    pub data: Vec<u8>,
    pub constant: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtxModule {
    infos: Vec<PtxKernelInfo>,
    programs: Vec<PtxProgram>,
    storage: Vec<VariableStorage>,
}

impl PtxModule {
    pub fn parse(text: &str) -> Result<PtxModule, ParseError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(limit(1, "", "bytes of text", TEXT_BYTES_MAX as u64));
        }
        let tokens = tokens(text)?;
        if let Some(long) = tokens.iter().find(|token| token.is_word_of_more(WORD_BYTES_MAX)) {
            return Err(limit(long.line, &long.text(), "bytes of a word", WORD_BYTES_MAX as u64));
        }
        let unit = parse(&tokens)?;
        let storage = storage(&unit.variables)?;
        let names = names(&unit)?;
        let mut module = PtxModule { infos: Vec::new(), programs: Vec::new(), storage };
        let mut left = EmitLimits::ALL;
        for function in
            unit.functions.iter().filter(|function| function.is_kernel && function.body.is_some())
        {
            let params = params(function)?;
            let offsets: Vec<u64> = params.iter().map(|param| param.offset).collect();
            let program = kernel(&names, function, &offsets, &mut left)?;
            module.infos.push(PtxKernelInfo {
                name: function.name.to_owned(),
                params,
                registers: program.registers,
                static_shared_bytes: program.static_shared_bytes,
                local_bytes: program.local_bytes,
                max_threads: function
                    .max_threads
                    .unwrap_or(BLOCK_THREADS_MAX)
                    .min(BLOCK_THREADS_MAX),
            });
            module.programs.push(program);
        }
        Ok(module)
    }

    pub fn kernels(&self) -> &[PtxKernelInfo] {
        &self.infos
    }

    pub(crate) fn find(&self, name: &str) -> Option<(&PtxKernelInfo, &PtxProgram)> {
        let at = self.infos.iter().position(|info| info.name == name)?;
        Some((&self.infos[at], &self.programs[at]))
    }

    pub(crate) fn storage(&self) -> &[VariableStorage] {
        &self.storage
    }
}

fn limit(line: u32, text: &str, what: &'static str, max: u64) -> ParseError {
    ParseError { line, text: text.to_owned(), problem: ParseProblem::Limit(what, max) }
}

fn storage(variables: &[Variable<'_>]) -> Result<Vec<VariableStorage>, ParseError> {
    let mut total = 0u64;
    let mut storage = Vec::new();
    for variable in variables.iter().filter(|variable| variable.space != Space::Shared) {
        total = total.saturating_add(variable.bytes);
        if total > DATA_BYTES_MAX {
            return Err(limit(variable.line, variable.name, "bytes of variables", DATA_BYTES_MAX));
        }
        let mut data = variable.data.clone();
        data.resize(variable.bytes as usize, 0);
        storage.push(VariableStorage {
            name: variable.name.to_owned(),
            data,
            constant: variable.space == Space::Constant,
        });
    }
    Ok(storage)
}

fn names<'u, 'a>(unit: &'u TranslationUnit<'a>) -> Result<Names<'u, 'a>, ParseError> {
    let twice = |line, name: &str| ParseError {
        line,
        text: name.to_owned(),
        problem: ParseProblem::Syntax("this name exists twice"),
    };
    let mut names = Names { functions: BTreeMap::new(), variables: BTreeMap::new() };
    for function in &unit.functions {
        let before = names.functions.insert(function.name, function);
        if before.is_some_and(|before| before.body.is_some()) {
            return Err(twice(function.line, function.name));
        }
    }
    let mut index = 0;
    for variable in &unit.variables {
        if names.variables.insert(variable.name, (variable, index)).is_some() {
            return Err(twice(variable.line, variable.name));
        }
        index += usize::from(variable.space != Space::Shared);
    }
    Ok(names)
}

fn params(function: &FunctionSyntax<'_>) -> Result<Vec<PtxParam>, ParseError> {
    let mut end = 0u64;
    let mut params = Vec::new();
    for param in &function.params {
        let offset = end.next_multiple_of(param.align.max(1));
        end = offset + param.bytes;
        if end > PARAM_BYTES_MAX {
            return Err(limit(param.line, param.name, "bytes of parameters", PARAM_BYTES_MAX));
        }
        params.push(PtxParam { offset, bytes: param.bytes });
    }
    Ok(params)
}
