//! A response's Python, run over shapes: what its `ModelNew` would call, and with what.
//!
//! Python is parsed by a library and run here, statement by statement, with tensors that have a buffer, a shape and a
//! type, and no data. What a module makes of its values is computed (numbers, shapes, texts); what it compiles by
//! `load_inline` is recorded by the platform, a call at a time, whose tensors the next call may take. Whatever would
//! compute with PyTorch's own operators, read data, or is not known here ends the run as unsupported, by its name:
//! the verdict is about kernels.
//!
//! `depth` keeps hostile texts off the parser's stack. `run` has statements, `expression` expressions (`arithmetic` numbers),
//! `call` functions and classes, `library` the known part of Python's own and of PyTorch, `tensor` tensors, and `layer` the
//! layers of `torch.nn`.

mod arithmetic;
mod call;
mod depth;
mod expression;
mod layer;
mod library;
mod run;
mod tensor;
mod value;

use assay_plugin::gpu::compiler::{Argument, Returned, Trace};

use crate::label::{Size, Task};
use crate::verdict::{Failure, Stop, Verdict};
use run::Run;
use value::{ShapedTensor, Value};

/// The class that a response defines, as KernelBench has it.
const MODEL: &str = "ModelNew";

/// A call of `load_inline`: sources, and the functions that Python may call.
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

/// Runs the module and the constructor of its model, and says what they compile.
pub(crate) fn read(task: &Task, text: &str) -> Result<PythonAnswer, Failure> {
    let module = parsed(text)?;
    let mut run = Run::new(text, task, None);
    let ended = run.module(&module).and_then(|()| run.model().map(|model| model.is_some()));
    match ended {
        Ok(has_model) => Ok(PythonAnswer { extensions: run.extensions, has_model }),
        Err(Stop::Failed(failure)) => Err(failure),
        Err(Stop::Error(error)) => Err(unsupported(error.to_string())),
    }
}

/// Runs the model's `forward` at a size; `record` says what a call of a compiled function does.
pub(crate) fn forward(
    task: &Task,
    text: &str,
    size: &Size,
    record: &mut dyn FnMut(Call<'_>) -> Result<Trace, Stop>,
) -> Result<Trace, Stop> {
    let module = parsed(text)?;
    let mut run = Run::new(text, task, Some((size, record)));
    run.module(&module)?;
    let model = run.model()?.ok_or_else(|| unsupported(format!("it defines no {MODEL}")))?;
    let inputs = task.inputs().iter().map(|name| run.named(name)).collect();
    let result = run.method(&model, "forward", inputs)?;
    let returned = run.returned(result)?;
    let (steps, scratch_bytes) = run.into_plan();
    Ok(Trace { steps, scratch_bytes, returned, unsupported: Vec::new() })
}

fn parsed(text: &str) -> Result<Vec<ruff_python_ast::Stmt>, Failure> {
    depth::check(text)?;
    match ruff_python_parser::parse_module(text) {
        Ok(module) => Ok(module.into_syntax().body),
        Err(error) => Err(Failure::new(Verdict::GenerationFailed, format!("the Python: {error}"))),
    }
}

impl Run<'_> {
    /// The buffers of the tensors that `forward` returned.
    fn returned(&self, result: Value) -> Result<Vec<Returned>, Failure> {
        let one = |value: &Value| match value {
            Value::Tensor(ShapedTensor { buffer, offset, dtype, shape }) => Ok(Returned {
                buffer: *buffer,
                offset: *offset,
                dtype: *dtype,
                shape: shape.to_vec(),
            }),
            other => Err(unsupported(format!("its forward returns {}", other.described()))),
        };
        match &result {
            Value::List(values) => values.borrow().iter().map(one).collect(),
            // Nothing is returned where arguments are written to.
            Value::None => Ok(Vec::new()),
            value => Ok(vec![one(value)?]),
        }
    }
}

fn unsupported(reason: impl Into<String>) -> Failure {
    Failure::new(Verdict::Unsupported, reason)
}

#[cfg(test)]
mod tests;
