#!/usr/bin/env python3
"""Imports tasks in KernelBench's form, and judges two answers of each on a simulated device: its own reference, which is
right, and zeros, which are wrong.

    tests/kernelbench.py [CHECKOUT]

Without a checkout: those of plugins/cuda/kernelbench, all of which but two must be imported, and the first of which is
the task plugins/cuda/tasks/conv_swish_mean. With one: its levels 1 and 2, with a count of what became of them.
Compilers of CUDA must be in target/cuda (`assay gpu install-toolchain --to target/cuda`).
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PYTHON = TARGET / "trainers/torch/bin/python"
OWN = ROOT / "plugins/cuda/kernelbench"
TASK = ROOT / "plugins/cuda/tasks/conv_swish_mean"
LEFT_OUT = ["level1/6_left_out", "level1/8_constant"]


def imported(checkout, levels, out):
    command = [TARGET / "debug/assay", "cuda", "import", checkout, "--output", out, "--python", PYTHON]
    subprocess.run([*command, *[f"--level={level}" for level in levels]], check=True)
    return [json.loads(line) for line in out.read_text().splitlines()]


def zeros_of(label):
    """A host function that writes zeros to every result at every size."""
    kinds = {"fp32": "float", "fp64": "double", "i64": "long long", "i32": "int", "ui8": "unsigned char"}
    parameters, lines = [], []
    for name in label["arguments"]:
        buffer = label["buffers"].get(name)
        parameters.append(f"{kinds[buffer['dtype'] if buffer else label['scalars'][name]]}{'*' if buffer else ''} {name}")
        if buffer and buffer["role"] == "output":
            for size in [*label["sizes"], *label["held_out"]]:
                count = math.prod(size.get(length, length) for length in buffer["shape"])
                lines.append(f"if (size == {size['size']}) cudaMemset({name}, 0, {count} * sizeof(*{name}));")
    return f"#include <cuda_runtime.h>\nextern \"C\" void forward({', '.join(parameters)}) {{ {' '.join(lines)} }}\n"


def judged(tasks, folder):
    """The lines of those whose reference is no success as an answer, or whose zeros are one."""
    cases = []
    for task in tasks:
        right = task["label"]["reference"]["source"].replace("void reference(", "void forward(")
        for name, answer, reward, verdict in [
            ("reference", right, 1, "success"),
            ("zeros", zeros_of(task["label"]), 0, "wrong_answer"),
        ]:
            case = {
                "name": f"{task['key']}: {name}",
                "request": {"response": f"```cuda\n{answer}```\n", "label": task["label"]},
                "expect": {"outcome": "scored", "reward": reward, "verdict": verdict},
            }
            # JSON is YAML as well.
            cases.append(folder / f"{len(cases)}.yaml")
            cases[-1].write_text(json.dumps(case))
    plugin = TARGET / "wasm32-wasip2/plugin/assay_plugin_cuda.wasm"
    command = [TARGET / "debug/assay-worker", "test", plugin, *cases, "--json", "--gpu", "simulated"]
    command += ["--cuda", (TARGET / "cuda").resolve()]
    ended = subprocess.run(command, capture_output=True, text=True)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    if len(lines) != len(cases):
        sys.exit(f"{len(lines)} of {len(cases)} cases ran:\n{ended.stderr}")
    return [line for line in lines if line["state"] != "passed"]


def main():
    checkout = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tasks = imported(checkout or OWN, [1, 2] if checkout else [1], folder / "tasks.jsonl")
        wrong = judged(tasks, folder)
    for line in wrong:
        print(f"{line['case']}: {line.get('explanation') or line.get('problem')}")
    print(f"{len(tasks)} tasks imported, of whose answers by reference and by zeros {len(wrong)} were judged wrongly")
    if checkout:
        return 0
    names = {f"level1/{path.stem}" for path in (OWN / "level1").glob("*.py")}
    left_out = sorted(names - {task["key"] for task in tasks})
    if left_out != LEFT_OUT:
        sys.exit(f"left out: {left_out}, expected: {LEFT_OUT}")
    changed = [path for path, text in files_of(tasks[0]).items() if not path.exists() or path.read_text() != text]
    for path in changed:
        path.write_text(files_of(tasks[0])[path])
        print(f"{path.relative_to(ROOT)} was not what is imported, and is written anew")
    return 1 if wrong or changed else 0


def files_of(task):
    """The files of the task in plugins/cuda/tasks."""
    label = task["label"] | {"task": TASK.name, "reference": {"file": "reference.cu", "entry": "reference"}}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in label.items()]
    return {
        TASK / "task.json": "{\n" + ",\n".join(lines) + "\n}\n",
        TASK / "reference.cu": task["label"]["reference"]["source"],
        TASK / "prompt.md": task["prompt"],
    }


if __name__ == "__main__":
    sys.exit(main())
