//! What a `ModelNew` calls, and what it is refused for.

mod values;

use assay_plugin::gpu::compiler::{Argument, Returned, Tensor, Trace};
use assay_plugin::gpu::{Arg, Dtype, Step};

use super::{COPY_MODULE, Call, forward, read};
use crate::label::Task;
use crate::limits::PYTHON_DEPTH_MAX;
use crate::verdict::{Failure, Stop, Verdict};

/// A convolution of 4 to 8 channels, of images of 10 x 10.
fn task() -> Task {
    let label = r#"{
        "task": "conv",
        "buffers": {
            "bias": {"dtype": "fp32", "shape": [8], "role": "input", "init": "zeros"},
            "out": {"dtype": "fp32", "shape": ["n", 8, 8, 8], "role": "output"},
            "weight": {"dtype": "fp32", "shape": [8, 4, 3, 3], "role": "input", "init": "zeros"},
            "x": {"dtype": "fp32", "shape": ["n", 4, 10, 10], "role": "input", "init": "zeros"}
        },
        "arguments": ["x", "weight", "bias", "out"],
        "tensors": {"arguments": ["x", "weight", "bias"], "returns": ["out"]},
        "module": {
            "inputs": ["x"],
            "parameters": {"conv.weight": "weight", "conv.bias": "bias"},
            "init": [4, 8, 3]
        },
        "sizes": [{"n": 2}],
        "entry": "forward",
        "reference": {"source": "void reference() {}", "entry": "reference"}
    }"#;
    Task::read(&assay_plugin::Request::new("", "", label)).expect("a label")
}

const BEGIN: &str = r#"
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

ext = load_inline(name="ext", cpp_sources="", cuda_sources="void f();", functions=["conv", "relu_"])

class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1):
        super(ModelNew, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.stride = stride
        self.kernel_size = (kernel_size, kernel_size)
        self.extra = nn.Parameter(torch.randn(3))
        self.ext = ext

    def halves(self, value):
        return value // 2

    def forward(self, x):
"#;

/// The calls of a `forward` with these lines: functions with their arguments in words. Each returns a tensor of the shape
/// of `out` in a buffer of its own.
fn run(lines: &str) -> Result<(Vec<String>, Trace), Failure> {
    run_with("", lines)
}

/// The same, with functions and classes in front of the model's.
fn run_with(own: &str, lines: &str) -> Result<(Vec<String>, Trace), Failure> {
    let body: String = lines.lines().map(|line| format!("        {line}\n")).collect();
    let begin = BEGIN.replace("class ModelNew", &format!("{own}\nclass ModelNew"));
    let text = format!("{begin}{body}");
    let task = task();
    let mut calls = Vec::new();
    let mut record = |call: Call<'_>| {
        let arguments: Vec<String> = call.arguments.iter().map(in_words).collect();
        calls.push(format!("{}({})", call.function, arguments.join(", ")));
        let buffer = 4 + u32::try_from(call.scratch_bytes.len()).expect("few");
        let returned = Returned { buffer, offset: 0, dtype: Dtype::Fp32, shape: vec![2, 8, 8, 8] };
        Ok(Trace {
            steps: Vec::new(),
            scratch_bytes: vec![4 * 1024],
            returned: vec![returned],
            unsupported: Vec::new(),
        })
    };
    let extensions = read(&task, &text)?.extensions;
    match forward(&task, &text, &extensions, &task.checked()[0], &mut record) {
        Ok(trace) => Ok((calls, trace)),
        Err(Stop::Failed(failure)) => Err(failure),
        Err(Stop::Error(error)) => panic!("{error}"),
    }
}

fn in_words(argument: &Argument) -> String {
    match argument {
        Argument::Tensor(tensor) => tensor_in_words(tensor),
        Argument::I64(value) => value.to_string(),
        Argument::Fp64(value) => format!("{value:?}"),
        Argument::Boolean(value) => value.to_string(),
        Argument::Absent => "None".into(),
        Argument::Integers(values) => format!("{values:?}"),
        Argument::Tensors(all) => {
            let all: Vec<String> = all.iter().map(tensor_in_words).collect();
            format!("[{}]", all.join(", "))
        }
        other => format!("{other:?}"),
    }
}

/// The buffer, the bytes before it, and the shape.
fn tensor_in_words(tensor: &Tensor) -> String {
    let begin = if tensor.offset == 0 { String::new() } else { format!("+{}", tensor.offset) };
    format!("{}{begin}:{:?}", tensor.buffer, tensor.shape)
}

fn calls(lines: &str) -> Vec<String> {
    run(lines)
        .map(|(calls, _)| calls)
        .unwrap_or_else(|failure| panic!("{lines}: {}", failure.reason))
}

fn refused(lines: &str, reason: &str) {
    let failure = run(lines).expect_err("a refusal");
    assert_eq!(failure.verdict, Verdict::Unsupported, "{lines}: {}", failure.reason);
    assert!(failure.reason.contains(reason), "{lines}: {}", failure.reason);
}

const X: &str = "3:[2, 4, 10, 10]";

#[test]
fn parameters_numbers_and_shapes_are_passed() {
    let lines = "return self.ext.conv(x, self.conv.weight, self.conv.bias, self.stride, self.conv.padding[0], 0.5)";
    assert_eq!(calls(lines), [format!("conv({X}, 2:[8, 4, 3, 3], 0:[8], 1, 0, 0.5)")]);
    let lines = "\
n, c, h, w = x.shape
out_h = (h + 2 * 0 - self.kernel_size[0]) // self.stride + 1
size = max(out_h, math.ceil(w / 3))
y = ext.conv(x.contiguous().view(n, -1), self.halves(size), x.numel(), x.size(-1) == 10)
return y";
    assert_eq!(calls(lines), ["conv(3:[2, 400], 4, 800, true)"]);
}

#[test]
fn several_calls_share_their_tensors() {
    let lines = "\
y = self.ext.conv(x)
z = torch.zeros(2, 8, device=x.device, dtype=x.dtype)
for i in range(2):
    if y.is_cuda and not self.training is None:
        y = self.ext.relu_(y.reshape(-1), z, i)
return y.view(2, 8, 8, 8)";
    let (calls, trace) = run(lines).expect("a plan");
    let expected = [
        format!("conv({X})"),
        "relu_(4:[1024], 5:[2, 8], 0)".to_owned(),
        "relu_(6:[2, 8, 8, 8], 5:[2, 8], 1)".replace("6:[2, 8, 8, 8]", "6:[1024]"),
    ];
    assert_eq!(calls, expected);
    assert_eq!(trace.scratch_bytes, [4096, 64, 4096, 4096]);
    assert!(matches!(trace.steps[..], [Step::Set(set)] if set.at.buffer == 5 && set.bytes == 64));
    assert_eq!((trace.returned[0].buffer, trace.returned[0].shape.len()), (7, 4));
}

#[test]
fn functions_and_classes_of_the_response_are_run() {
    let own = "\
class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale=2):
        ctx.save_for_backward(x)
        return ext.conv(x, scale)
def twice(x, *, by):
    return Function.apply(x, by * 2)";
    let lines = "\
with torch.no_grad():
    out = twice(x, by=3)
return out";
    let (calls, _) = run_with(own, lines).expect("a plan");
    assert_eq!(calls, [format!("conv({X}, 6)")]);
}

#[test]
fn what_pytorch_computes_is_refused_by_name() {
    for (lines, what) in [
        ("return self.ext.conv(x) * 2", "`self.ext.conv(x) * 2`"),
        ("return torch.relu(self.ext.conv(x))", "`torch.relu(self.ext.conv(x))`"),
        ("return F.relu(x)", "`F.relu(x)`"),
        ("return self.conv(x)", "`self.conv(x)`"),
        ("return self.ext.conv(x).sum(dim=1)", "sum(dim=1)`"),
        ("return self.ext.conv(x[x])", "`x[x]`"),
        ("return self.ext.conv(x.t())", "`x.t()`"),
        ("return self.ext.conv(-x)", "`-x`"),
        ("y = self.ext.conv(x)\ny += x\nreturn y", "`y += x`"),
        ("y = self.ext.conv(x)\ny[0] = 1\nreturn y", "`y[0]`"),
        ("y = self.ext.conv(x)\ny.add_(x)\nreturn y", "`y.add_(x)`"),
        ("return self.ext.conv(x.half())", "`x.half()`"),
        ("return x @ x", "`x @ x`"),
    ] {
        refused(lines, "it computes with PyTorch, not with a kernel of its own");
        refused(lines, what);
    }
}

#[test]
fn what_depends_on_data_or_is_not_known_is_refused() {
    refused("if x:\n    return x\nreturn self.ext.conv(x)", "whether `x` holds");
    refused("if x.max() > 0:\n    pass\nreturn self.ext.conv(x)", "`x.max()`");
    refused("return self.ext.conv(x, self.extra)", "no parameter `extra`");
    refused("return self.ext.conv(x, self.nothing)", "`self.nothing`, which is not known");
    refused("return self.ext.conv(x, 'reflect')", "`conv` is given a text");
    refused("return mystery(x)", "it is not known what `mystery(x)` does");
    refused("return self.ext.conv(x.view(7))", "does not fit");
    let last = "memory_format=torch.channels_last";
    refused(&format!("return self.ext.conv(x.contiguous({last}))"), "not contiguous");
    refused(&format!("return torch.empty_like(x, {last})"), "not contiguous");
    refused("return 3", "its forward returns a number");
    refused("while True:\n    pass", "takes more than");
    let failure = run_with("def f(x):\n    return f(x)", "return f(x)").expect_err("a refusal");
    assert!(failure.reason.contains("call one another"), "{}", failure.reason);
    refused("for i in range(100):\n    self.ext.conv(x)\nreturn x", "more than 64 times");
    refused("return torch.empty(1 << 40, 1 << 40)", "its tensors take more than");
}

#[test]
fn an_error_that_it_raises_is_its_own() {
    let failure = run("raise ValueError('no')").expect_err("an error");
    assert_eq!(failure.verdict, Verdict::ExecuteError);
    assert!(failure.reason.contains("`raise ValueError('no')`"), "{}", failure.reason);
}

#[test]
fn values_that_grow_or_hold_themselves_end() {
    refused("a = []\na.append(a)\nreturn x", "`a.append(a)`");
    refused("a = [1]\na[0] = a\nreturn x", "`a[0]`");
    refused("a = [1]\nfor i in range(9):\n    a = [a, a]\nreturn x", "lists in its Python");
    refused(
        "a = 'x' * 3\nfor i in range(4000):\n    b = f'{x.numel()}' + 'y'\nreturn a",
        "its forward",
    );
    refused(
        "a = 'xxxxxxxx'\nfor i in range(14):\n    a += a\nb = []\nfor i in range(400):\n    b.append(a + 'x')",
        "more than 16777216 bytes",
    );
    // A list that holds itself by a method of its own, and layers that do.
    refused("a = []\na.append(a.append)\nf(a)\nreturn x", "`a.append(a.append)`");
    refused("a = {}\na['a'] = a.get\nreturn x", "`a['a']`");
    refused("m = nn.ModuleList()\nm.append(m)\nreturn 3", "its forward returns a number");
    refused("m = nn.Sequential()\nwhile 1:\n    m = nn.Sequential(m)", "layers");
    // Nothing many times, and texts that are copied before they are joined.
    refused("a = [] * 4000000000\nreturn len(a)", "its forward returns a number");
    let long = "a = 'x'\nfor i in range(18):\n    a = a + a\n";
    refused(&format!("{long}b = ''.join([a] * 4096)\nreturn b"), "`''.join([a] * 4096)`");
    refused(&format!("{long}b = [str(a) for i in range(4096)]"), "more than 16777216 bytes");
    refused(&format!("{long}b = zip(*[a] * 4096)"), "more than 16777216 bytes");
    refused(&format!("{long}b = {{}}[(a,) * 4096]"), "`{}[(a,) * 4096]`");
    refused("self.conv.stride = 2\nreturn x", "`self.conv.stride`");
    refused("a = [3, 1]\na.sort()\nreturn x", "`a.sort()`");
    let own = "class One:\n    def __init__(self, other):\n        self.other = other";
    let lines = "one = None\nfor i in range(4000):\n    one = One(one)\nreturn x";
    let failure = run_with(own, lines).expect_err("a refusal");
    assert!(failure.reason.contains("objects"), "{}", failure.reason);
}

#[test]
fn depth_ends_before_the_stack_does() {
    let deep = 100_000;
    for hostile in [
        format!("x = {}1{}", "(".repeat(deep), ")".repeat(deep)),
        format!("x = {}1", "-".repeat(deep)),
        format!("x = {}True", "not ".repeat(deep)),
        format!("x = 1{}", " + 1".repeat(deep)),
        format!("x = y{}", ".y".repeat(deep)),
        format!("x = {}1", "lambda: ".repeat(deep)),
        format!("x = {}1", "1 if 1 else ".repeat(deep)),
        format!("x = f\"{}", "{f'".repeat(deep)),
        format!("x = {}", "[".repeat(deep)),
        (0..deep / 100).map(|at| format!("{}if 1:\n", " ".repeat(at))).collect(),
    ] {
        let failure = read(&task(), &hostile).expect_err("a refusal");
        assert_eq!(failure.verdict, Verdict::Unsupported, "{}", failure.reason);
        assert!(failure.reason.contains(&format!("more than {PYTHON_DEPTH_MAX}")));
    }
    for text in ["f(Q}\n&\n\\\n\n\n ".repeat(10_000), "x = )".into(), "x = f'{a]}'".into()] {
        let failure = read(&task(), &text).expect_err("it is no Python");
        assert_eq!(failure.verdict, Verdict::GenerationFailed, "{}", failure.reason);
    }
    // Many lines, and many things beside one another, are no depth.
    let wide = format!("x = [{}]\n{}", "-1, (2), ".repeat(2_000), "y = a.b(1 + 2)\n".repeat(5_000));
    assert!(read(&task(), &wide).is_ok());
}
