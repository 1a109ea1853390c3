//! Finds the program in a response and the form that it has.
//!
//! The thoughts are cut off, fenced blocks are read, and the last block that is an answer to the task is
//! taken. Its form (`form`) follows from its text, in which comments and strings count for nothing
//! (`source`). KernelBench's Python is run over shapes for what it compiles (`python`).

mod form;
mod python;
mod source;

use assay_plugin::response::{self, Block};

use crate::label::Task;
use crate::limits::SOURCE_BYTES_MAX;
use crate::python::Extension;
use crate::verdict::{Failure, Verdict};
pub(crate) use form::Form;

/// CUDA C++ and how it is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) form: Form,
    /// One, or as many as a response's Python compiles.
    pub(crate) units: Vec<SourceUnit>,
    pub(crate) entry: String,
    /// The Python whose `ModelNew` calls their functions.
    pub(crate) python: Option<Script>,
    /// The place from which the program was taken, for explanations.
    pub(crate) origin: String,
}

/// A text that is compiled by itself, so that its names are its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceUnit {
    pub(crate) code: String,
    /// The host functions that may be called.
    pub(crate) entries: Vec<String>,
    /// A `PYBIND11_MODULE` names the functions, which may have other names in C++.
    pub(crate) bound: bool,
}

/// Python that is run over shapes, and what it compiles: a unit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) text: String,
    pub(crate) extensions: Vec<Extension>,
}

/// The program, or why there is none.
pub(crate) fn extract(task: &Task, response: &str) -> Result<Program, Failure> {
    let Some(answer) = response::answer(response) else {
        return Err(nothing("the response ends inside its thoughts"));
    };
    if answer.trim().is_empty() {
        return Err(nothing("the response is empty"));
    }
    let all = response::blocks(answer, |name| Language::of(name).is_some());
    let named = |block: &&Block| Language::of(&block.name).is_some();
    let unnamed = |block: &&Block| block.name.is_empty() && is_cuda(&block.content);
    let mut blocks: Vec<&Block> = all.iter().filter(named).collect();
    if blocks.is_empty() {
        blocks = all.iter().filter(unnamed).collect();
    }
    // A block after the answer may be only an example of its use.
    let mut first_reason = None;
    for block in blocks.into_iter().rev() {
        let name = if block.name.is_empty() { "unnamed" } else { &block.name };
        let origin = format!("the {name} block at line {}", block.line);
        match read(task, &block.content, &block.name, origin) {
            Ok(program) => return Ok(program),
            Err(failure) => drop(first_reason.get_or_insert(failure)),
        }
    }
    match first_reason {
        Some(failure) => Err(failure),
        None if all.is_empty() && is_cuda(answer) => {
            read(task, answer, "", "the whole response".to_owned())
        }
        None => Err(nothing("the response has no block of CUDA")),
    }
}

fn read(task: &Task, text: &str, name: &str, origin: String) -> Result<Program, Failure> {
    if text.len() > SOURCE_BYTES_MAX {
        return Err(nothing(format!(
            "the source has {} bytes, at most {SOURCE_BYTES_MAX}",
            text.len()
        )));
    }
    if text.contains('\0') {
        return Err(nothing("the source holds a NUL character"));
    }
    if Language::of(name) == Some(Language::Python)
        || (name.is_empty() && crate::python::is_python(text))
    {
        return python::read(task, text, origin);
    }
    let found = form::find(task, text)?;
    let origin = format!("{}, {}", found.form.name(), origin);
    Ok(Program {
        form: found.form,
        units: vec![SourceUnit {
            code: text.to_owned(),
            entries: vec![found.entry.clone()],
            bound: found.bound,
        }],
        entry: found.entry,
        python: None,
        origin,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Cuda,
    Python,
}

impl Language {
    fn of(name: &str) -> Option<Self> {
        match name {
            "cuda" | "cu" | "cpp" | "c++" | "cxx" | "cc" | "c" => Some(Self::Cuda),
            "python" | "py" | "python3" => Some(Self::Python),
            _ => None,
        }
    }
}

/// Whether a text without a language is worth being read.
fn is_cuda(text: &str) -> bool {
    ["__global__", "PYBIND11_MODULE", "load_inline", "extern \"C\"", "torch::Tensor"]
        .iter()
        .any(|mark| text.contains(mark))
}

pub(crate) fn nothing(reason: impl Into<String>) -> Failure {
    Failure::new(Verdict::GenerationFailed, reason)
}

fn unsupported(reason: impl Into<String>) -> Failure {
    Failure::new(Verdict::Unsupported, reason)
}

#[cfg(test)]
mod tests;
