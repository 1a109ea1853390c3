//! Which of the forms that a task takes a source has.

use super::source::Source;
use super::{nothing, unsupported};
use crate::callable::check_callable;
use crate::label::Task;
use crate::verdict::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A kernel that the task launches.
    Kernel,
    /// A host function that launches kernels.
    Host,
    /// A host function over tensors.
    Torch,
    /// A module in Python that calls host functions over tensors.
    Model,
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kernel => "a bare kernel",
            Self::Host => "a host function",
            Self::Torch | Self::Model => "a PyTorch extension",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) form: Form,
    pub(super) entry: String,
    pub(super) bound: bool,
}

/// Headers of libraries whose work is not the response's, or that no box holds.
const LIBRARIES: [&str; 12] = [
    "cublas", "cudnn", "cusparse", "cusolver", "cufft", "curand.h", "cutlass", "cute/", "nccl",
    "nvshmem", "NvInfer", "tensorrt",
];

pub(super) fn find(task: &Task, text: &str) -> Result<Candidate, Failure> {
    let source = Source::new(text);
    let is_library = |path: &&str| LIBRARIES.iter().any(|library| path.starts_with(library));
    if let Some(path) = source.includes().into_iter().find(|path| is_library(path)) {
        return Err(unsupported(format!("it includes {path}: no library is called here")));
    }
    let entry = task.entry.as_str();
    let found = |form, entry: &str, bound| Ok(Candidate { form, entry: entry.to_owned(), bound });
    if source.has("PYBIND11_MODULE") {
        takes_tensors(task)?;
        let bound = bound_entry(entry, &source.bound_names())?;
        check_callable(&bound)?;
        return found(Form::Torch, &bound, true);
    }
    for name in [entry, "forward"] {
        if source.host_function(name).is_some_and(|signature| signature.takes_tensors) {
            takes_tensors(task)?;
            return found(Form::Torch, name, false);
        }
    }
    if source.host_function(entry).is_some() {
        return found(Form::Host, entry, false);
    }
    let kernels = source.kernels();
    if kernels.contains(&entry) {
        if task.launch.is_none() {
            return Err(nothing(format!(
                "`{entry}` is a kernel; the task asks for a host function that launches"
            )));
        }
        return found(Form::Kernel, entry, false);
    }
    Err(nothing(format!("the code defines no kernel or function `{entry}`")))
}

/// Which of the functions that a module offers to Python is called.
fn bound_entry(entry: &str, names: &[String]) -> Result<String, Failure> {
    match names {
        [] => Err(nothing("its PYBIND11_MODULE defines no function")),
        [name] => Ok(name.clone()),
        several => [entry, "forward"]
            .into_iter()
            .find(|name| several.iter().any(|one| one == name))
            .map(str::to_owned)
            .ok_or_else(|| {
                unsupported(format!(
                    "its module defines several functions, none of them `{entry}` or `forward`"
                ))
            }),
    }
}

pub(super) fn takes_tensors(task: &Task) -> Result<(), Failure> {
    match task.tensors {
        Some(_) => Ok(()),
        None => Err(unsupported("the task takes no PyTorch extension")),
    }
}
