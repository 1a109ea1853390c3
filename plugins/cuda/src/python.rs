//! A response's Python, run over shapes: what its `ModelNew` would call, and with what.
//!
//! Python is parsed by a library and run here, statement by statement, with tensors that have a buffer, a shape and a
//! type, and no data. What a module makes of its values is computed (numbers, shapes, texts); what it compiles by
//! `load_inline` is recorded by the platform, a call at a time, whose tensors the next call may take. Whatever would
//! compute with PyTorch's own operators, read data, or is not known here ends the run as unsupported, by its name:
//! the verdict is about kernels.
//!
//! `depth` keeps hostile texts off the parser's stack. `run` has statements, `scope` their names, `expression` expressions
//! (`arithmetic` numbers, `text` texts, `collection` lists and dictionaries, `attribute` attributes), `call` functions and
//! classes, `library` the known part of Python's own and of PyTorch, `extension` what is compiled, `tensor` tensors, `view`
//! their views and copies, and `layer` the layers of `torch.nn`.

mod arithmetic;
mod attribute;
mod call;
mod collection;
mod depth;
mod expression;
mod extension;
mod layer;
mod library;
mod run;
mod scope;
mod tensor;
mod text;
mod value;
mod view;

use assay_plugin::gpu::compiler::{Argument, Returned, Trace};

use crate::label::{Size, Task};
use crate::verdict::{Failure, Stop, Verdict};
use run::Run;
use value::Value;
pub(crate) use view::{COPY_MODULE, COPY_SOURCE};

/// The class that a response defines, as KernelBench has it.
const MODEL: &str = "ModelNew";

/// The extension of a call of `load_inline` or `load`: sources, and the functions that Python may call. Without these, a
/// `PYBIND11_MODULE` in the sources names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) sources: Vec<String>,
    pub(crate) functions: Vec<String>,
}

/// A response that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PythonAnswer {
    pub(crate) extensions: Vec<Extension>,
    pub(crate) has_model: bool,
}

/// One call of a compiled function. `scratch_bytes` are the buffers that earlier calls made, whose numbers follow the
/// task's.
pub(crate) struct Call<'a> {
    /// The number of the extension whose function it is.
    pub(crate) extension: usize,
    pub(crate) function: &'a str,
    pub(crate) arguments: &'a [Argument],
    pub(crate) scratch_bytes: &'a [u64],
}

/// Whether a text without a language is Python.
pub(crate) fn is_python(text: &str) -> bool {
    let begins = |line: &str| {
        ["import ", "from ", "def ", "class "].iter().any(|word| line.starts_with(word))
    };
    // Where there is CUDA in a string, its lines begin as well.
    let is_source = |line: &str| line.starts_with("#include");
    text.lines().any(begins) && (text.contains("load_inline") || !text.lines().any(is_source))
}

/// Runs the module, the constructor of its model and, as far as it comes without results, its `forward`, and says what they
/// compile.
pub(crate) fn read(task: &Task, text: &str) -> Result<PythonAnswer, Failure> {
    let module = parsed(text)?;
    let mut run = Run::new(text, task, None);
    let ended = run.module(&module).and_then(|()| run.model().map(|model| model.is_some()));
    let has_model = match ended {
        Ok(has_model) => has_model,
        Err(Stop::Failed(failure)) => return Err(failure),
        Err(Stop::Error(error)) => return Err(unsupported(error.to_string())),
    };
    let mut extensions = run.extensions;
    if has_model {
        // Some compile when they are first called. Where this ends early, the run that records says why.
        let (sizes, mut record) = (task.checked(), |_: Call<'_>| Ok(nothing_launched()));
        let mut run = Run::new(text, task, Some((&sizes[0], &mut record)));
        (run.collects, run.extensions) = (true, extensions);
        drop(run.forward(&module));
        extensions = run.extensions;
    }
    Ok(PythonAnswer { extensions, has_model })
}

/// Runs the model's `forward` at a size; `record` says what a call of a compiled function does.
pub(crate) fn forward(
    task: &Task,
    text: &str,
    extensions: &[Extension],
    size: &Size,
    record: &mut dyn FnMut(Call<'_>) -> Result<Trace, Stop>,
) -> Result<Trace, Stop> {
    let module = parsed(text)?;
    let mut run = Run::new(text, task, Some((size, record)));
    run.extensions = extensions.to_vec();
    let returned = run.forward(&module)?;
    let (steps, scratch_bytes) = run.into_plan();
    Ok(Trace { steps, scratch_bytes, returned, unsupported: Vec::new() })
}

fn nothing_launched() -> Trace {
    let (scratch_bytes, unsupported) = (Vec::new(), Vec::new());
    Trace { steps: Vec::new(), scratch_bytes, returned: Vec::new(), unsupported }
}

fn parsed(text: &str) -> Result<Vec<ruff_python_ast::Stmt>, Failure> {
    depth::check(text)?;
    match ruff_python_parser::parse_module(text) {
        Ok(module) => Ok(module.into_syntax().body),
        Err(error) => Err(Failure::new(Verdict::GenerationFailed, format!("the Python: {error}"))),
    }
}

impl Run<'_> {
    fn forward(&mut self, module: &[ruff_python_ast::Stmt]) -> Result<Vec<Returned>, Stop> {
        self.module(module)?;
        let model = self.model()?;
        let model = model.ok_or_else(|| unsupported(format!("it defines no {MODEL}")))?;
        let inputs = self.task.inputs().iter().map(|name| self.named(name)).collect();
        let result = self.method(&model, "forward", inputs)?;
        self.returned(&result)
    }

    /// The buffers of the tensors that `forward` returned.
    fn returned(&mut self, result: &Value) -> Result<Vec<Returned>, Stop> {
        let values = match (result, result.sequence()) {
            (_, Some(values)) => values,
            // Nothing is returned where arguments are written to.
            (Value::None, _) => Vec::new(),
            (value, _) => vec![value.clone()],
        };
        let mut returned = Vec::new();
        for value in values {
            let Value::Tensor(tensor) = value else {
                let what = value.described();
                return Err(unsupported(format!("its forward returns {what}")).into());
            };
            let tensor = if tensor.is_contiguous() { tensor } else { self.copied(&tensor)? };
            returned.push(Returned {
                buffer: tensor.buffer,
                offset: tensor.offset,
                dtype: tensor.dtype,
                shape: tensor.shape.to_vec(),
            });
        }
        Ok(returned)
    }
}

fn unsupported(reason: impl Into<String>) -> Failure {
    Failure::new(Verdict::Unsupported, reason)
}

#[cfg(test)]
mod tests;
