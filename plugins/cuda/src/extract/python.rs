//! KernelBench's answers: Python that compiles CUDA out of texts by `load_inline`.

use super::form::{self, Form};
use super::{Program, nothing, unsupported};
use crate::label::Task;
use crate::python;
use crate::verdict::{Failure, Verdict};

/// The lines that PyTorch puts before the sources.
const PROLOGUE: &str = "#include <torch/extension.h>\n#include <cuda_runtime.h>\n";

pub(super) fn read(task: &Task, text: &str, origin: String) -> Result<Program, Failure> {
    let answer = python::read(task, text)?;
    let extension = match &answer.extensions[..] {
        [] => return Err(nothing("the Python has no CUDA: it never calls load_inline")),
        [extension] => extension,
        _ => return Err(unsupported("it calls load_inline several times")),
    };
    form::takes_tensors(task)?;
    let code = format!("{PROLOGUE}{}\n", extension.sources.join("\n"));
    let origin = format!("{} in Python, {origin}", Form::Torch.name());
    // Which library it calls is told in the same way; what it defines is known by `functions`.
    let bound = match form::find(task, &code) {
        Err(failure) if failure.verdict == Verdict::Unsupported => return Err(failure),
        found => found.ok().filter(|found| found.bound),
    };
    let functions = extension.functions.clone();
    let (form, entry) = match (&functions[..], &bound) {
        ([], None) => return Err(unsupported("its load_inline names no functions")),
        _ if answer.has_model => (Form::Model, String::new()),
        ([], Some(found)) => (Form::Torch, found.entry.clone()),
        ([name], _) => (Form::Torch, name.clone()),
        _ => {
            return Err(unsupported(
                "its load_inline offers several functions, and no ModelNew calls them",
            ));
        }
    };
    let bound = functions.is_empty();
    let entries = if form == Form::Model { functions } else { vec![entry.clone()] };
    let python = (form == Form::Model).then(|| text.to_owned());
    Ok(Program { form, code, entry, entries, bound, python, origin })
}

#[cfg(test)]
mod tests;
