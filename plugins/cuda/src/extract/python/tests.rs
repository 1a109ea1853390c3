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
    let [unit] = &program.units[..] else { panic!("one unit") };
    assert_eq!(unit.entries, ["run"]);
    assert_eq!((program.form, program.entry.as_str(), unit.bound), (Form::Model, "", false));
    assert_eq!(program.origin, "a PyTorch extension in Python, a block");
    let lines: Vec<&str> = unit.code.lines().collect();
    let begin = [
        "#include <torch/extension.h>",
        "#include <cuda_runtime.h>",
        "torch::Tensor run(torch::Tensor x);",
        "",
        "#include <torch/extension.h>",
    ];
    assert_eq!(lines[..5], begin);
    assert!(unit.code.contains("/* \"it's\" */"));
}

#[test]
fn literals_come_in_many_shapes() {
    let same = |from: &str, to: &str| {
        let program = read(&changed(from, to)).expect("a program");
        assert_eq!(program.units, read(WHOLE).expect("a program").units, "{to}");
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
        assert_eq!(program.units, read(WHOLE).expect("a program").units, "{to}");
    };
    same("cuda_sources=source", "cuda_sources=source.replace('kernel', 'kernel')");
    same("module = load", "source += ''\nmodule = load");
    same("module = load", "def the(text):\n    return text\nsource = the(source)\nmodule = load");
    same("[declaration]", "f'{declaration}'");
}

#[test]
fn extensions_are_compiled_each_by_itself() {
    let again = "again = load_inline('a', '', source, 'other')\n";
    let program = read(&format!("{WHOLE}\n{again}{again}")).expect("a program");
    let entries: Vec<_> = program.units.iter().map(|unit| unit.entries.join(" ")).collect();
    assert_eq!(entries, ["run", "other"], "the same one is compiled once");
    // In what is called when the model is made, and when it is called.
    let text = changed("super().__init__()", &format!("super().__init__()\n        {again}"));
    assert_eq!(read(&text).expect("a program").units.len(), 2);
    let text = changed("x = x.contiguous()", &format!("x = x.contiguous()\n        {again}"));
    assert_eq!(read(&text).expect("a program").units.len(), 2);
}

#[test]
fn files_that_it_writes_are_compiled() {
    let module = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"run\", &run); }";
    let load = format!(
        "import os, tempfile\nfrom torch.utils.cpp_extension import load\n\
         path = os.path.join(tempfile.mkdtemp(), 'x.cu')\nwith open(path, 'w') as f:\n    \
         f.write(source)\n    f.write('{module}')\nmodule = load('module', [path])\n"
    );
    let begin = WHOLE.split("module = load").next().expect("the beginning");
    let program = read(&format!("{begin}{load}")).expect("a program");
    assert_eq!((program.form, program.entry.as_str()), (Form::Torch, "run"));
    assert!(program.units[0].bound && program.units[0].code.ends_with(&format!("{module}\n")));
    let absent = load.replace("[path]", "['y.cu']");
    let reason = "it compiles the file `y.cu`, which it did not write";
    check(&format!("{begin}{absent}"), Verdict::Unsupported, reason);
}

#[test]
fn what_is_not_known_is_not_taken() {
    let no = Verdict::Unsupported;
    check(&changed("=source", "=make()"), no, "cuda_sources of load_inline is not known");
    check(&changed("=source", "=source % (3, 4)"), no, "is not known without running it");
    check(&changed("=source", "=open('x').read()"), no, "is not known without running it");
    check(&changed("['run']", "names()"), no, "functions of load_inline is not known");
    check(&changed("    functions=['run'],\n", ""), no, "names no functions");
    check(&changed("import torch\n", "import triton\n"), no, "it uses triton");
    check(&changed("import torch\n", "from cupy import x\n"), no, "it uses cupy");
    check(&changed("<torch/extension.h>", "<cublas_v2.h>"), no, "cublas_v2.h");
    let alone = WHOLE.split("class").next().expect("the beginning");
    check(&alone.replace("['run']", "['run', 'other']"), no, "no ModelNew calls them");
    let two = format!("{alone}\nagain = load_inline('a', '', source, 'run')\n");
    check(&two, no, "several extensions, and no ModelNew calls them");
    let many = "for i in range(9):\n    load_inline('a', '// %d' % i, source, 'run')\n";
    check(&format!("{WHOLE}\n{many}"), no, "more than 6 extensions");
}

#[test]
fn functions_have_names_that_can_be_called() {
    let no = Verdict::Unsupported;
    for name in ["a b", "", "größe", "1a", "a\\0", &"a".repeat(1_025)] {
        let reason = "is no name of a function that can be called here";
        check(&changed("['run']", &format!("['run', '{name}']")), no, reason);
        let module = format!("PYBIND11_MODULE(X, m) {{ m.def(\"{name}\", &run); }}");
        let failure = form::find(&task(), &module).expect_err("a refusal");
        assert!(failure.reason.contains(reason), "{}", failure.reason);
    }
    let many = "['f%d' % i for i in range(129)]";
    check(&changed("['run']", many), no, "names more than 128 functions");
    let long = format!("=['{}'] * 2", "x".repeat(200_000));
    check(&changed("=source", &long), no, "or too long");
    let text = format!("=f'{}'", "{long}".repeat(3_000));
    let text = format!("long = '{}'\n{}", "x".repeat(100_000), changed("=source", &text));
    check(&text, no, "a text in its Python is too long");
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
