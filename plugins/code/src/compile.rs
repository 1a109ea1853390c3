//! The stage `compile`: what cannot be compiled ends here; what needs no compiling passes through.

use std::collections::BTreeSet;

use assay_plugin::{Error, exec};

use crate::machine::{Compiled, Machine};
use crate::program::{Program, complaint};

/// A failed compilation: the compiler's message, and the protections that its box lacked.
pub(crate) struct CompileFailure {
    pub(crate) reason: String,
    pub(crate) weakened: BTreeSet<String>,
}

impl CompileFailure {
    pub(crate) fn new(outcome: exec::Outcome, log: &exec::Captured) -> Self {
        let reason = complaint(&outcome, log);
        Self { reason, weakened: outcome.weakened.into_iter().collect() }
    }
}

/// The program with its key, or why there is none.
pub(crate) fn compile<M: Machine>(
    machine: &M,
    mut program: Program,
) -> Result<Result<Program, CompileFailure>, Error> {
    let toolchain = toolchain(machine, &program.toolchain)?;
    if !toolchain.compiled {
        return Ok(Ok(program));
    }
    match machine.compile(&program.source(&toolchain), None)? {
        Compiled::Program { key, .. } => {
            program.key = Some(key);
            Ok(Ok(program))
        }
        Compiled::Rejected { outcome, log } => Ok(Err(CompileFailure::new(outcome, &log))),
    }
}

/// The toolchain that an earlier stage chose, which another worker may lack.
pub(crate) fn toolchain<M: Machine>(machine: &M, id: &str) -> Result<exec::Toolchain, Error> {
    machine
        .toolchains()
        .into_iter()
        .find(|toolchain| toolchain.id == id)
        .ok_or_else(|| Error::unavailable(format!("this worker has no toolchain `{id}`")))
}
