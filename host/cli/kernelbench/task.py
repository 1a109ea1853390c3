"""Makes a task of the plugin `cuda` out of one file of KernelBench, as JSON on standard output.

    python3 task.py FILE KEY small|original

The answer is `{"task": {...}}`, or `{"unsupported": WHY}`.
"""

import json
import logging
import pathlib
import re
import sys

import torch

from fills import fills_of
from model import Instance
from reference import TOLERANCE, Reference
from scale import shrunk, varied
from source import Source, Unsupported

# What one size may take, in products of a sum, and in bytes. A simulated device takes about a second for a small one.
SMALL = (1_000_000, 16 << 20)
ORIGINAL = (1 << 42, 3 << 30)
# What a size may take that is only compared with PyTorch, on a processor.
COMPARED = (400_000_000, 256 << 20)
# What PyTorch runs once on a processor at KernelBench's own sizes, in products of a sum.
RUN_WORK_MAX = 20_000_000_000
# The limits of a label: its buffers, those of all its sizes together, and what a program may allocate at a size.
BUFFERS_MAX, SESSION_BUFFERS_MAX = 128, 240
SCRATCH_BYTES_MAX = 4 << 30
DTYPES = {
    torch.float32: "fp32",
    torch.float64: "fp64",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.uint8: "ui8",
    torch.bool: "ui8",
}


def task_of(path, key, sizes):
    source = Source(path.read_text())
    limits = SMALL if sizes == "small" else COMPARED
    values, cost = shrunk(source, *limits)
    reference = Reference(texts(source, values, cost, limits[0]), buffers_of(source.with_values(values)))
    reference.verify()
    if sizes == "original":
        # PyTorch would take hours here: the same reference is compared at small sizes alone.
        reference = original(source, reference)
    text = reference.texts[0]
    return {"key": key, "prompt": prompt(text), "label": label_of(key, reference), "module": text}


def original(source, compared):
    """The reference at KernelBench's sizes, halved until what it allocates is allowed as well."""
    work_max, bytes_max = ORIGINAL
    while True:
        values, cost = shrunk(source, work_max, bytes_max)
        reference = Reference(texts(source, values, cost, work_max), compared.names)
        if reference.scratch_bytes <= SCRATCH_BYTES_MAX:
            break
        bytes_max = min(bytes_max, cost["bytes"]) // 2
    reference.absolute = compared.absolute
    # Results that become smaller with the size, as a softmax's, take little work.
    if cost["work"] <= RUN_WORK_MAX:
        reference.narrow(Instance(reference.texts[0]).run())
    return reference


def texts(source, values, cost, work_max):
    """The file as stated, and with other inputs of the same module."""
    other = varied(source, values, cost, work_max)
    return [source.with_values(one) for one in (values, other) if one]


def names_of(text):
    """Names in the label of the module's parameters, and of its inputs."""
    instance = Instance(text)
    names = [re.sub(r"\W", "_", name) for name in instance.parameters]
    code = instance.model.forward.__func__.__code__
    given = code.co_varnames[1 : code.co_argcount]
    held = len(names)
    for at in range(len(instance.inputs)):
        name = given[at] if at < len(given) else f"input_{at}"
        names.append(f"{name}_input" if name in (*names, "size") else name)
    return names[:held], names[held:]


def buffers_of(text):
    """Names of the buffers: the parameters, then those inputs that are tensors."""
    parameters, inputs = names_of(text)
    return parameters + [name for name, value in zip(inputs, Instance(text).inputs) if isinstance(value, torch.Tensor)]


def label_of(key, reference):
    text, outputs = reference.texts[0], reference.outputs()
    instance = Instance(text)
    names = [*reference.names, *outputs]
    if len(names) > BUFFERS_MAX:
        raise Unsupported(f"it has {len(names)} parameters, inputs and results, {BUFFERS_MAX} at most")
    fills = fills_of(text, reference.names)
    shapes = [[*given, *results] for given, results in zip(reference.given, reference.results)]
    sizes = [{"size": number} for number in range(len(shapes))]
    buffers = {}
    for at, name in enumerate(names):
        kind = shapes[0][at][0]
        if kind not in DTYPES:
            raise Unsupported(f"`{name}` is of {kind}")
        buffer = {"dtype": DTYPES[kind], "role": "output", "shape": dimensions([each[at][1] for each in shapes], sizes)}
        if at < len(reference.names):
            buffer |= {"role": "input", "init": fills[name]}
        buffers[name] = buffer
    parameters, inputs = names_of(text)
    numbers = {name: value for name, value in zip(inputs, instance.inputs) if name not in buffers}
    sizes = [size | numbers for size in sizes]
    kinds = {name: "fp32" if isinstance(value, float) else "i64" for name, value in numbers.items()}
    return {
        "task": key,
        "buffers": buffers,
        "scalars": {"size": "i32"} | kinds,
        "arguments": [*names, "size"],
        "tensors": {"arguments": inputs + parameters, "returns": outputs},
        "module": {
            "inputs": inputs,
            "parameters": dict(zip(instance.parameters, parameters)),
            "init": instance.init,
        },
        "sizes": sizes[:1],
        "held_out": sizes[1:],
        "entry": "forward",
        "reference": {"source": reference.source, "entry": "reference"},
        "tolerance": {"absolute": float(f"{reference.absolute:.1e}"), "relative": TOLERANCE},
    }


def dimensions(shapes, sizes):
    """A shape over all sizes: numbers, and names of the sizes' own for what differs."""
    found = []
    for values in zip(*shapes):
        if len(set(values)) == 1:
            found.append(values[0])
            continue
        same = [name for name in sizes[0] if all(size[name] == value for size, value in zip(sizes, values))]
        name = same[0] if same else f"d{len(sizes[0]) - 1}"
        for size, value in zip(sizes, values):
            size[name] = value
        found.append(name)
    return found


def prompt(text):
    return PROMPT.format(source=text.strip())


PROMPT = """Below is a PyTorch module `Model`, with functions that make its inputs. Write a module `ModelNew` that computes the
same, with CUDA kernels of your own in the place of PyTorch's operators:

- Compile them by `load_inline` of `torch.utils.cpp_extension`, its sources as strings in your code.
- `ModelNew` is made of the same values as `Model`, and has parameters of the same names; its `forward` takes the same
  inputs.
- It is judged with the inputs that are made below, and with inputs of other shapes as well.

```python
{source}
```

Answer with the complete code of `ModelNew` in one block of Python.
"""


def main():
    path, key, sizes = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch.set_num_threads(1)
    logging.disable(logging.ERROR)
    try:
        print(json.dumps({"task": task_of(path, key, sizes)}))
    except Unsupported as error:
        print(json.dumps({"unsupported": str(error)}))


if __name__ == "__main__":
    main()
