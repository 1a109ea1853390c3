//! KernelBench's answers: what is taken of them and what is not.

use super::*;
use crate::extract::tests::task;
use crate::verdict::Verdict;

const WHOLE: &str = r#"
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
__global__ void kernel(const float* x) { /* "it's" */ }
torch::Tensor run(torch::Tensor x) { kernel<<<1, 1>>>(x.data_ptr<float>()); return x; }
"""
declaration = ("torch::Tensor run("
               "torch::Tensor x);")

module = load_inline(
    name='module',
    cpp_sources=[declaration],
    cuda_sources=source,
    functions=['run'],
    extra_cuda_cflags=["-O3"],
    verbose=(1 == 2),
)

class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: torch.Tensor,
                scale=2) -> torch.Tensor:
        """Runs it."""
        # The input may be a view.
        assert x.is_cuda, "x"
        x = x.contiguous()
        return self.module.run(x)

def get_inputs():
    return [torch.rand(2, 3) * 2]
"#;

fn read(text: &str) -> Result<Program, Failure> {
    super::read(&task(), text, "a block".into())
}

fn check(text: &str, verdict: Verdict, reason: &str) {
    let failure = read(text).expect_err("a refusal");
    assert_eq!(failure.verdict, verdict, "{}", failure.reason);
    assert!(failure.reason.contains(reason), "{}", failure.reason);
}

/// The whole answer with one part of it replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(WHOLE.contains(from), "{from}");
    WHOLE.replace(from, to)
}

#[test]
fn the_sources_are_taken_out_of_the_literals() {
    assert!(crate::python::is_python(WHOLE));
    let program = read(WHOLE).expect("a program");
    assert_eq!(program.entries, ["run"]);
    assert_eq!((program.form, program.entry.as_str(), program.bound), (Form::Model, "", false));
    assert_eq!(program.origin, "a PyTorch extension in Python, a block");
    let lines: Vec<&str> = program.code.lines().collect();
    let begin = [
        "#include <torch/extension.h>",
        "#include <cuda_runtime.h>",
        "torch::Tensor run(torch::Tensor x);",
        "",
        "#include <torch/extension.h>",
    ];
    assert_eq!(lines[..5], begin);
    assert!(program.code.contains("/* \"it's\" */"));
}

#[test]
fn literals_come_in_many_shapes() {
    let same = |from: &str, to: &str| {
        let program = read(&changed(from, to)).expect("a program");
        assert_eq!(program.code, read(WHOLE).expect("a program").code, "{to}");
    };
    same("[declaration]", "declaration");
    same("[declaration]", "\"torch::Tensor run(\" + 'torch::Tensor x);'");
    same("[declaration]", "\"torch::Tensor run(\"\n    + 'torch::Tensor x);'");
    same("[declaration]", "\"torch::Tensor run(\"\n    'torch::Tensor x);'");
    same("['run']", "'run'");
    same("['run']", "[\n  'run',\n ]");
    same("    name='module',\n    cpp_sources=", "    'module', ");
    same("source = \"\"\"", "source = r\"\"\"");
    same("module = load_inline", "module = torch.utils.cpp_extension.load_inline");
    same("\"it's\"", "\\\"it\\'s\\\"");
}

#[test]
fn texts_may_be_put_together() {
    let same = |from: &str, to: &str| {
        let program = read(&changed(from, to)).expect("a program");
        assert_eq!(program.code, read(WHOLE).expect("a program").code, "{to}");
    };
    same("cuda_sources=source", "cuda_sources=source.replace('kernel', 'kernel')");
    same("module = load", "source += ''\nmodule = load");
    same("module = load", "def the(text):\n    return text\nsource = the(source)\nmodule = load");
    same("[declaration]", "f'{declaration}'");
}

#[test]
fn what_is_not_known_is_not_taken() {
    let no = Verdict::Unsupported;
    check(&changed("=source", "=make()"), no, "cuda_sources of load_inline is not known");
    check(&changed("=source", "=source % 3"), no, "is not known without running it");
    check(&changed("=source", "=open('x').read()"), no, "is not known without running it");
    check(&changed("['run']", "names()"), no, "functions of load_inline is not known");
    check(&changed("    functions=['run'],\n", ""), no, "names no functions");
    let again = "again = load_inline('a', '', source, 'run')\n";
    check(&format!("{WHOLE}\n{again}"), no, "several times");
    check(&changed("import torch\n", "import triton\n"), no, "it uses triton");
    check(&changed("import torch\n", "from cupy import x\n"), no, "it uses cupy");
    check(&changed("<torch/extension.h>", "<cublas_v2.h>"), no, "cublas_v2.h");
    let alone = WHOLE.split("class").next().expect("the beginning");
    check(&alone.replace("['run']", "['run', 'other']"), no, "no ModelNew calls them");
}

#[test]
fn what_is_no_cuda_is_none() {
    let none = Verdict::GenerationFailed;
    check("import torch\ndef f(x): return torch.softmax(x)\n", none, "never calls load_inline");
    check("from x import load_inline\n", none, "never calls load_inline");
    check(&changed("    cuda_sources=source,\n", ""), none, "no cuda_sources");
    check("source = \"\"\"never closed", none, "the Python: ");
    check("source = 'never closed\n'", none, "the Python: ");
}

#[test]
fn sources_alone_are_called_with_the_tensors() {
    let alone = WHOLE.split("class").next().expect("the beginning");
    let program = read(alone).expect("a program");
    assert_eq!((program.form, program.entry.as_str()), (Form::Torch, "run"));
}

#[test]
fn texts_that_double_again_and_again_end() {
    let doubling = "a = a + a\n".repeat(10_000);
    let text = changed("declaration = (", &format!("a = 'xxxxxxxx'\n{doubling}declaration = ("));
    assert!(read(&text).is_ok(), "nobody asks for what they make");
    let text = text.replace("[declaration]", "[a]");
    check(&text, Verdict::Unsupported, "is not known without running it");
}
