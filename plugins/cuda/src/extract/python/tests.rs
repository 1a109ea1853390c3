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
    assert!(is_python(WHOLE));
    let program = read(WHOLE).expect("a program");
    assert_eq!((program.form, program.entry.as_str(), program.bound), (Form::Torch, "run", false));
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
fn what_is_not_literal_is_not_taken() {
    let no = Verdict::Unsupported;
    check(
        &changed("cuda_sources=source", "cuda_sources=make()"),
        no,
        "cuda_sources of load_inline",
    );
    check(&changed("cuda_sources=source", "cuda_sources=source.strip()"), no, "is no literal");
    check(&changed("cuda_sources=source", "cuda_sources=source % 3"), no, "is no literal");
    check(&changed("source = \"\"\"", "source = f\"\"\""), no, "is no literal");
    check(&changed("module = load", "source += 'x'\nmodule = load"), no, "is no literal");
    check(&changed("['run']", "['run', 'other']"), no, "several functions");
    check(&changed("['run']", "names()"), no, "functions of load_inline is no literal");
    check(&changed("    functions=['run'],\n", ""), no, "names no functions");
    check(&format!("{WHOLE}\nagain = load_inline('a')\n"), no, "several times");
    check(&changed("import torch\n", "import triton\n"), no, "it uses triton");
    check(&changed("import torch\n", "from cupy import x\n"), no, "it uses cupy");
    check(&changed("<torch/extension.h>", "<cublas_v2.h>"), no, "cublas_v2.h");
}

#[test]
fn what_is_no_cuda_is_none() {
    let none = Verdict::GenerationFailed;
    check("import torch\ndef f(x): return torch.softmax(x)\n", none, "never calls load_inline");
    check("from x import load_inline\n", none, "never calls load_inline");
    check(&changed("    cuda_sources=source,\n", ""), none, "no cuda_sources");
    check("source = \"\"\"never closed", none, "a string is not closed");
    check("source = 'never closed\n'", none, "not closed on its line");
}

#[test]
fn a_forward_must_do_nothing_else() {
    let call = "return self.module.run(x)";
    for fine in [
        "y = self.module.run(x.contiguous())\n        return y",
        "return run(x, x.size(0), scale=scale)",
        "out = module.run(\n            x,\n        )\n        return out",
        "return self.module.run(x,\n   int(scale))",
    ] {
        let found = read(&changed(call, fine));
        assert!(found.is_ok(), "{fine}: {found:?}");
    }
    for more in [
        "return self.module.run(x) * 2",
        "return self.module.run(x).sum()",
        "return self.module.run(x * 2)",
        "return self.module.run(torch.relu(x))",
        "y = torch.relu(x)\n        return self.module.run(y)",
        "return self.module.run(self.module.run(x)) if x else x",
        "if x.is_cuda:\n            return self.module.run(x)\n        return x",
        "for i in range(3):\n            x = self.module.run(x)\n        return x",
        "return self.module.run(x) @ x",
    ] {
        check(&changed(call, more), Verdict::Unsupported, "its forward does more than call `run`");
    }
    check(&changed(call, "return x"), Verdict::Unsupported, "its forward never calls `run`");
    let sources_alone = WHOLE.split("class").next().expect("the beginning");
    assert!(read(sources_alone).is_ok());
}

#[test]
fn texts_that_double_again_and_again_end() {
    let doubling = "a = a + a\n".repeat(10_000);
    let text = changed("declaration = (", &format!("a = 'xxxxxxxx'\n{doubling}declaration = ("));
    check(&text, Verdict::Unsupported, "is no literal");
}
