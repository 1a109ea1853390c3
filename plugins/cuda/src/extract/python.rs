//! KernelBench's answers: Python that compiles CUDA out of texts by `load_inline`.

use super::form::{self, Form};
use super::{Program, Script, SourceUnit, nothing, unsupported};
use crate::callable::check_callable;
use crate::label::Task;
use crate::limits::FUNCTIONS_MAX;
use crate::python::{self, Extension};
use crate::verdict::{Failure, Verdict};

/// The lines that PyTorch puts before the sources.
const PROLOGUE: &str = "#include <torch/extension.h>\n#include <cuda_runtime.h>\n";

pub(super) fn read(task: &Task, text: &str, origin: String) -> Result<Program, Failure> {
    let answer = python::read(task, text)?;
    if answer.extensions.is_empty() {
        return Err(nothing("the Python has no CUDA: it never calls load_inline"));
    }
    form::takes_tensors(task)?;
    let units = answer.extensions.iter().map(|extension| unit(task, extension));
    let mut units = units.collect::<Result<Vec<_>, _>>()?;
    let origin = format!("{} in Python, {origin}", Form::Torch.name());
    if answer.has_model {
        let extensions = answer.extensions;
        let python = Some(Script { text: text.to_owned(), extensions });
        return Ok(Program { form: Form::Model, units, entry: String::new(), python, origin });
    }
    let [unit] = &mut units[..] else {
        return Err(unsupported("it compiles several extensions, and no ModelNew calls them"));
    };
    let entry = match &unit.entries[..] {
        [entry] => entry.clone(),
        _ => {
            return Err(unsupported(
                "its load_inline offers several functions, and no ModelNew calls them",
            ));
        }
    };
    Ok(Program { form: Form::Torch, units, entry, python: None, origin })
}

fn unit(task: &Task, extension: &Extension) -> Result<SourceUnit, Failure> {
    let code = format!("{PROLOGUE}{}\n", extension.sources.join("\n"));
    // Which library it calls is told in the same way; what it defines is known by `functions`.
    let bound = match form::find(task, &code) {
        Err(failure) if failure.verdict == Verdict::Unsupported => return Err(failure),
        found => found.ok().filter(|found| found.bound),
    };
    let entries = match (&extension.functions[..], bound) {
        ([], None) => return Err(unsupported("its load_inline names no functions")),
        ([], Some(found)) => vec![found.entry],
        (functions, _) => functions.to_vec(),
    };
    if entries.len() > FUNCTIONS_MAX {
        return Err(unsupported(format!(
            "its load_inline names more than {FUNCTIONS_MAX} functions"
        )));
    }
    entries.iter().try_for_each(|name| check_callable(name))?;
    Ok(SourceUnit { code, entries, bound: extension.functions.is_empty() })
}

#[cfg(test)]
mod tests;
