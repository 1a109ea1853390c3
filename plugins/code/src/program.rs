//! The program as one stage hands it to the next.

use assay_plugin::exec;
use serde::{Deserialize, Serialize};

use crate::machine::{Compiled, Machine};
use crate::verdict::{Part, excerpt};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) toolchain: String,
    pub(crate) code: String,
    /// The place from which the program was taken, for explanations.
    pub(crate) origin: String,
    /// The key of the compiled program from the stage `compile`; `None` if nothing was compiled.
    pub(crate) key: Option<String>,
}

impl Program {
    pub(crate) fn source(&self, toolchain: &exec::Toolchain) -> exec::Source {
        exec::Source {
            toolchain: self.toolchain.clone(),
            files: vec![exec::File::text(&toolchain.main, &self.code)],
            main: toolchain.main.clone(),
            options: Vec::new(),
        }
    }
}

/// The compiler's message, in a few lines.
pub(crate) fn complaint(outcome: &exec::Outcome, log: &exec::Captured) -> String {
    let how = match outcome.ended {
        exec::Ending::Exited(_) => String::new(),
        exec::Ending::Signaled(signal) => format!("the compiler died by signal {signal}; "),
        exec::Ending::Limited(kind) => {
            let name = match kind {
                exec::LimitKind::Cpu | exec::LimitKind::Wall => "time",
                exec::LimitKind::Memory => "memory",
                exec::LimitKind::Output => "output",
                exec::LimitKind::Processes => "process",
            };
            format!("the compiler met its {name} limit; ")
        }
    };
    let written = if log.data.is_empty() { &outcome.stdout } else { log };
    format!("{how}{}", excerpt(&written.data, COMPLAINT_SHOWN, Part::Beginning))
}

const COMPLAINT_SHOWN: usize = 1_500;

/// A program that must compile: a harness of ours, a checker of the label's.
pub(crate) fn compile_trusted<M: Machine>(
    machine: &M,
    source: &exec::Source,
    what: &str,
) -> Result<M::Program, assay_plugin::Error> {
    match machine.compile(source, None)? {
        Compiled::Program { program, .. } => Ok(program),
        Compiled::Rejected { outcome, log } => Err(assay_plugin::Error::bad_request(format!(
            "{what} does not compile: {}",
            complaint(&outcome, &log)
        ))),
    }
}
