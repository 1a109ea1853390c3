//! KernelBench's answers: Python with CUDA in string literals that `load_inline` compiles. The Python is
//! read, never run: what is not literal cannot be taken.

mod forward;
mod literal;
mod token;

use super::form::{self, Form};
use super::{Program, nothing, unsupported};
use crate::label::Task;
use crate::verdict::{Failure, Verdict};
use literal::{Literals, Value};
use token::{Token, tokens};

/// Whether a text without a language is Python.
pub(super) fn is_python(text: &str) -> bool {
    let begins = |line: &str| {
        ["import ", "from ", "def ", "class "].iter().any(|word| line.starts_with(word))
    };
    // Where there is CUDA in a string, its lines begin as well.
    let is_source = |line: &str| line.starts_with("#include");
    text.lines().any(begins) && (text.contains("load_inline") || !text.lines().any(is_source))
}

/// Ways to write kernels in Python that are not CUDA C++.
const OTHERS: [&str; 7] =
    ["triton", "cutlass", "cupy", "numba", "tilelang", "pycuda", "cuda_python"];

pub(super) fn read(task: &Task, text: &str, origin: String) -> Result<Program, Failure> {
    let tokens = tokens(text).map_err(|problem| nothing(format!("the Python: {problem}")))?;
    if let Some(other) = imported(&tokens) {
        return Err(unsupported(format!("it uses {other}; only CUDA C++ is judged")));
    }
    let calls: Vec<usize> = calls_of_load_inline(&tokens);
    let call = match calls[..] {
        [] => return Err(nothing("the Python has no CUDA: it never calls load_inline")),
        [call] => call,
        _ => return Err(unsupported("it calls load_inline several times")),
    };
    form::takes_tensors(task)?;
    let arguments = Literals::of_module(&tokens, call).arguments(call + 1);
    let sources = |name: &str| match arguments.get(name) {
        None => Ok(Vec::new()),
        Some(Value::Texts(texts)) => Ok(texts.clone()),
        Some(Value::Other) => Err(unsupported(format!("{name} of load_inline is no literal"))),
    };
    let mut parts = sources("cpp_sources")?;
    let cuda = sources("cuda_sources")?;
    if cuda.is_empty() {
        return Err(nothing("its load_inline has no cuda_sources"));
    }
    parts.extend(cuda);
    let code = format!("{PROLOGUE}{}\n", parts.join("\n"));
    let origin = format!("{} in Python, {origin}", Form::Torch.name());
    let functions = sources("functions")?;
    let found = form::find(task, &code);
    // Which library it calls is told in the same way; what it defines is known by `functions`.
    let found = match found {
        Err(failure) if failure.verdict == Verdict::Unsupported => return Err(failure),
        found => found.ok(),
    };
    let (entry, bound) = match (&functions[..], found) {
        ([], Some(found)) if found.bound => (found.entry, true),
        ([], _) => return Err(unsupported("its load_inline names no functions")),
        ([name], _) => (name.clone(), false),
        _ => return Err(unsupported("its load_inline offers several functions")),
    };
    forward::check(text, &tokens, &entry)?;
    Ok(Program { form: Form::Torch, code, entry, bound, origin })
}

/// The lines that PyTorch puts before the sources.
const PROLOGUE: &str = "#include <torch/extension.h>\n#include <cuda_runtime.h>\n";

fn imported(tokens: &[(Token, usize)]) -> Option<&'static str> {
    let word = |at: usize| match tokens.get(at) {
        Some((Token::Word(word), _)) => word.as_str(),
        _ => "",
    };
    let imports = (0..tokens.len()).filter(|at| matches!(word(*at), "import" | "from"));
    let mut names = imports.map(|at| word(at + 1));
    names.find_map(|name| OTHERS.into_iter().find(|other| *other == name))
}

/// The places at which `load_inline` is followed by its arguments.
fn calls_of_load_inline(tokens: &[(Token, usize)]) -> Vec<usize> {
    let is_call = |pair: &[(Token, usize)]| {
        matches!(&pair[0].0, Token::Word(word) if word == "load_inline")
            && pair[1].0 == Token::Mark('(')
    };
    let pairs = tokens.windows(2).enumerate();
    pairs.filter(|(_, pair)| is_call(pair)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests;
