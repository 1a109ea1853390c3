//! Python as answers write it: collections, functions, classes, views, and what compiled functions are given.

use super::*;

fn check(lines: &str, expected: &str) {
    assert_eq!(calls(lines), [expected], "{lines}");
}

#[test]
fn collections_are_computed() {
    check(
        "\
options = {'kernel': 3, **dict(stride=2)}
options['pad'] = options.get('pad', 1)
sizes = {name: value * 2 for name, value in options.items() if name in ('kernel', 'pad')}
return self.ext.conv(len(options), sizes['kernel'], list(sizes.values()), 'stride' in options)",
        "conv(3, 6, [6, 2], true)",
    );
    check(
        "\
pairs = [(a + b, at) for at, (a, b) in enumerate(zip([1, 2, 3], (10, 20)))]
total = sum(a * b for a in range(3) for b in range(a))
first, *rest = x.shape
return self.ext.conv(pairs[1], total, rest, sorted([3, 1]), tuple(reversed(x.shape[1:])))",
        "conv([22, 1], 2, [4, 10, 10], [1, 3], [10, 10, 4])",
    );
    check(
        "\
rows = []
for row in range(2):
    rows.append((row, row + 1))
rows.extend([(7, 8)])
cache = {}
key = (x.dtype, tuple(x.shape))
if key not in cache:
    cache[key] = 5
x_sizes = [x for x in x.size()]
return self.ext.conv(x, cache[(torch.float32, (2, 4, 10, 10))], rows[-1], any([0, 1]), divmod(7, 2))",
        &format!("conv({X}, 5, [7, 8], true, [3, 1])"),
    );
    refused("cache = {x.data_ptr(): 1}\nreturn x", "keys of `{x.data_ptr(): 1}` are not known");
    refused("d = {}\nreturn self.ext.conv(x, d['a'])", "there is no `d['a']`");
    refused("if x.data_ptr() in {}:\n    pass\nreturn x", "whether `x.data_ptr() in {}` holds");
}

#[test]
fn texts_are_put_together() {
    let lines = "\
name = '{}_{k}'.format('a', k=3) + '-'.join(['x', 'y']) + 'n%d%%' % 4
ok = name == 'a_3x-yn4%' and name.startswith('a') and '3x' in name
return self.ext.conv(ok)";
    check(lines, "conv(true)");
}

#[test]
fn functions_see_the_names_around_them() {
    let own = "\
count = 0
def make(step, *, by=lambda: 1, **others):
    total = step
    def add(value):
        nonlocal total
        global count
        count += 1
        total = total + value
        return total + others['more']
    return add";
    let lines = "\
add = make(10, more=100)
add(1)
return ext.conv(x, add(2), count)";
    let (calls, _) = run_with(own, lines).expect("a plan");
    assert_eq!(calls, [format!("conv({X}, 113, 2)")]);
    let failure = run_with(own, "return make(1, 2)").expect_err("a refusal");
    assert!(failure.reason.contains("too many arguments"), "{}", failure.reason);
    let failure = run_with("def f(a):\n    pass", "return f(1, b=2)").expect_err("a refusal");
    assert!(failure.reason.contains("has no parameter `b`"), "{}", failure.reason);
    let chain =
        "f = None\nfor i in range(400):\n    def g(f=f):\n        return f\n    f = g\nreturn x";
    refused(chain, "objects");
}

#[test]
fn classes_have_bases() {
    let own = "\
class Base(nn.Module):
    block = 64
    def __init__(self, n):
        super().__init__()
        self.n = n
    @property
    def twice(self):
        return 2 * self.n
    @classmethod
    def of(cls, n):
        return cls(n + cls.block)
    def forward(self, x):
        return ext.conv(x, self.n, self.block)
class Other(Base):
    block = 32
    def __init__(self):
        super(Other, self).__init__(7)
    def forward(self, x):
        ext.relu_(self.twice)
        return super().forward(x)";
    let (calls, _) = run_with(own, "y = Other()(x)\nreturn Base.of(1)(y)").expect("a plan");
    let expected = [
        "relu_(14)".to_owned(),
        format!("conv({X}, 7, 32)"),
        "conv(5:[2, 8, 8, 8], 65, 64)".into(),
    ];
    assert_eq!(calls, expected);
    let failure = run_with("", "return super().forward(x)").expect_err("a refusal");
    assert!(failure.reason.contains("`super().forward(x)`"), "{}", failure.reason);
}

#[test]
fn views_move_no_data() {
    check(
        "return self.ext.conv(x[1], x[:, None].squeeze(1).narrow(0, 1, 1), x.unsqueeze(-1))",
        "conv(3+1600:[4, 10, 10], 3+1600:[1, 4, 10, 10], 3:[2, 4, 10, 10, 1])",
    );
    check(
        "\
a, b = x.chunk(2)
c, d = x.split([1, 1], dim=0)
return self.ext.conv([a, d], x[-1, ..., 0:10], x.transpose(1, 2).transpose(2, 1))",
        &format!("conv([3:[1, 4, 10, 10], 3+1600:[1, 4, 10, 10]], 3+1600:[4, 10, 10], {X})"),
    );
    // An empty view lies where the whole does, not behind it.
    check(
        "return self.ext.conv(x[9:, 9:], x[:, 4:, 3:])",
        "conv(3:[0, 0, 10, 10], 3+120:[2, 0, 7, 10])",
    );
    for view in ["x.transpose(1, 2)", "x[:, 0]", "x.permute(0, 2, 3, 1)", "x[..., :5]", "x.mT"] {
        refused(&format!("return self.ext.conv({view})"), "");
    }
    refused("return self.ext.conv(x.transpose(1, 2))", "`conv` is given a tensor that is not");
    refused("return x.permute(0, 1)", "does not fit the tensor's shape");
    refused("return x.transpose(1, 2).view(-1)", "is a view of what is not contiguous");
    refused("return torch.empty_like(x.transpose(1, 2))", "has its layout");
    refused("return x[5]", "there is no `x[5]`");
    refused("return x.expand(3, 4, 10, 10)", "does not fit");
    refused("for part in x:\n    self.ext.conv(part)\nreturn x[0].sum()", "`x[0].sum()`");
}

/// The count, element bytes, shape and strides of the copies that a plan makes.
fn copies(trace: &Trace) -> Vec<Vec<u64>> {
    let layout = |step: &Step| match step {
        Step::Launch(launch) if launch.module == COPY_MODULE => match &launch.args[2] {
            Arg::ByValue(value) => Some(
                value
                    .bytes
                    .chunks(8)
                    .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
                    .collect(),
            ),
            _ => None,
        },
        _ => None,
    };
    trace.steps.iter().filter_map(layout).collect()
}

#[test]
fn views_are_copied_by_the_judge() {
    let lines = "\
w = self.conv.weight.permute(1, 2, 3, 0).contiguous()
v = x.transpose(-1, -2).reshape(2, -1)
return self.ext.conv(w, v, x.expand(2, 4, 10, 10).contiguous(), x[:, 1].flatten())";
    let (calls, trace) = run(lines).expect("a plan");
    assert_eq!(calls, [format!("conv(4:[4, 3, 3, 8], 5:[2, 400], {X}, 6:[200])")]);
    let ones = |count| vec![1; count];
    let none = |count| vec![0; count];
    let expected = [
        [vec![288, 4], ones(6), vec![36, 8], none(6), vec![1, 36]].concat(),
        [vec![800, 4], ones(5), vec![8, 10, 10], none(5), vec![100, 1, 10]].concat(),
        [vec![200, 4], ones(6), vec![2, 100], none(6), vec![400, 1]].concat(),
    ];
    assert_eq!(copies(&trace), expected);
    // A view that forward returns is copied as well.
    let (_, trace) = run("return self.ext.conv(x).transpose(0, 1)").expect("a plan");
    assert_eq!((copies(&trace).len(), &trace.returned[0].shape[..2]), (1, &[8, 2][..]));
}

#[test]
fn compiled_functions_are_given_what_python_gives_them() {
    check(
        "return self.ext.conv(None, (3, 3), [x, x], -1e-5)",
        &format!("conv(None, [3, 3], [{X}, {X}], -1e-5)"),
    );
    check("nn.init.zeros_(self.conv.bias)\nreturn self.ext.conv(1)", "conv(1)");
    refused("y = torch.empty(3)\nnn.init.zeros_(y)\nreturn y", "`nn.init.zeros_(y)`");
    check("return self.ext.conv(float('-inf'), math.inf, True)", "conv(-inf, inf, true)");
    check(
        "return self.ext.conv([], torch.tensor([]), x.device.type == 'cuda')",
        "conv([], 4:[0], true)",
    );
    refused("return self.ext.conv([1, 'a'])", "`conv` is given a list");
    refused("return self.ext.conv({})", "`conv` is given a dictionary");
    refused("return self.ext.conv([x.transpose(1, 2)])", "not contiguous");
}

#[test]
fn parameters_are_found_below_the_modules_that_hold_them() {
    let label = r#"{
        "task": "net",
        "buffers": {
            "a": {"dtype": "fp32", "shape": [2], "role": "input", "init": "zeros"},
            "b": {"dtype": "fp32", "shape": [3], "role": "input", "init": "zeros"},
            "c": {"dtype": "fp32", "shape": [4], "role": "input", "init": "zeros"},
            "x": {"dtype": "fp32", "shape": ["n"], "role": "input", "init": "zeros"},
            "y": {"dtype": "fp32", "shape": ["n"], "role": "output"}
        },
        "arguments": ["x", "a", "b", "c", "y"],
        "tensors": {"arguments": ["x", "a", "b", "c"], "returns": ["y"]},
        "module": {
            "inputs": ["x"],
            "parameters": {"block.layers.1.weight": "a", "block.inner.gain": "b", "net.0.bias": "c"}
        },
        "sizes": [{"n": 2}],
        "entry": "forward",
        "reference": {"source": "void reference() {}", "entry": "reference"}
    }"#;
    let task = Task::read(&assay_plugin::Request::new("", "", label)).expect("a label");
    let text = r#"
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
ext = load_inline("ext", "", "void f();", ["f"])

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3))

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.ReLU()])
        self.layers.append(nn.Linear(1, 2))
        self.inner = Inner()

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.gain = self.block.inner.gain
        setattr(self, "bias", nn.Parameter(self.net[0].bias))

    def forward(self, x):
        for layer in self.block.layers:
            weight = getattr(layer, "weight", None)
        return ext.f(weight, self.gain, self.bias, len(self.net))
"#;
    let mut seen = Vec::new();
    let mut record = |call: Call<'_>| {
        seen.extend(call.arguments.iter().map(in_words));
        let (steps, scratch_bytes, unsupported) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Trace { steps, scratch_bytes, returned: Vec::new(), unsupported })
    };
    let extensions = read(&task, text).expect("an answer").extensions;
    let trace = forward(&task, text, &extensions, &task.checked()[0], &mut record);
    if let Err(Stop::Failed(failure)) = trace {
        panic!("{}", failure.reason);
    }
    assert_eq!(seen, ["0:[2]", "1:[3]", "2:[4]", "2"]);
}

#[test]
fn calls_have_limits_that_are_the_hosts() {
    refused("return self.ext.größe(x)", "`größe` is no name of a function");
    refused("return self.ext.conv(x, list(range(193)))", "`conv` is given more than 192 values");
    refused("return self.ext.conv(*([1] * 193))", "`conv` is given more than 192 values");
    let many = "for i in range(253):\n    y = torch.empty(1)\nreturn self.ext.conv(y)";
    refused(many, "it makes too many tensors");
    assert_eq!(calls(&many.replace("253", "252")), ["conv(255:[1])"]);
    let reason = "it makes a tensor of more than 8 dimensions";
    refused("return self.ext.conv(torch.empty(*[1] * 9))", reason);
    refused("return torch.empty(*[2] * 9).t().contiguous()", reason);
}
