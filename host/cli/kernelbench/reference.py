"""The reference of a task: one source of CUDA for all of its sizes, and what it computes on this machine's processor."""

import ctypes
import math
import pathlib
import subprocess
import tempfile

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from emit import TYPES, Memory, Value
from graph import traced
from model import Instance
from operators import Translator
from source import Unsupported

KERNELS = pathlib.Path(__file__).resolve().parent / "reference.h"
# The limit of a source in a label.
BYTES_MAX = 256 << 10
# KernelBench's own for fp32.
TOLERANCE = 1e-4
SEEDS = (1, 2)
# Results that are smaller than this on average are what rounding left.
RESULT_LEAST = 1e-7


class Reference:
    """`reference(arguments..., results..., size)`; the module's texts at its sizes are told apart by their number."""

    def __init__(self, texts, names):
        self.texts, self.names = texts, names
        self.given, self.results = [], []  # of each size: (type, shape) by place
        self.absolute = TOLERANCE
        functions, bodies = {}, []
        for text in texts:
            bodies.append(self.size(text, functions))
        self.source = self.written(functions, bodies)
        self.scratch_bytes = max(scratch for _, scratch in bodies)
        if len(self.source) > BYTES_MAX:
            raise Unsupported(f"its reference has {len(self.source):,} bytes, {BYTES_MAX:,} at most")

    def size(self, text, functions):
        with FakeTensorMode(allow_non_fake_inputs=True):
            instance = Instance(text)
            graph = traced(instance)
        held = len(instance.parameters)
        names = [*self.names[:held], *[None] * len(instance.running), *self.names[held:]]
        translator = Translator(functions)
        results = translator.run(graph, names)
        given = [*instance.parameters.values(), *instance.tensors]
        self.given.append([(value.dtype, tuple(value.shape)) for value in given])
        self.results.append([(value.layout.dtype, tuple(value.layout.shape)) for value in results])
        for at, value in enumerate(results):
            whole = torch.empty(value.layout.shape, dtype=value.layout.dtype, device="meta")
            translator.copy_into(Value(Memory(f"out{at}"), whole), whole, value)
        return translator.body()

    def outputs(self):
        return [f"out{at}" for at in range(len(self.results[0]))]

    def written(self, functions, bodies):
        kinds = [TYPES.get(kind) for kind, _ in self.given[0]]
        if None in kinds:
            raise Unsupported("it takes tensors of a type that no reference is made for")
        parameters = [f"const {kind}* {name}" for kind, name in zip(kinds, self.names)]
        parameters += [f"{TYPES[kind]}* {name}" for (kind, _), name in zip(self.results[0], self.outputs())]
        text = KERNELS.read_text() + "\n"
        for (expression, count, kind, is_truth), name in functions.items():
            taken = ", ".join(f"{kind} {letter}" for letter in "abc"[:count])
            result = f"({expression}) != 0" if is_truth else expression
            text += f"struct {name} {{\n    __device__ static {kind} of({taken}) {{ return {result}; }}\n}};\n"
        for number, (lines, scratch) in enumerate(bodies):
            text += f"\nstatic void size_{number}({', '.join(parameters)}) {{\n"
            text += f"    char* s = scratch({scratch});\n" if scratch else ""
            text += "\n".join(lines) + "\n}\n"
        text += f'\nextern "C" void reference({", ".join(parameters)}, int size) {{\n'
        arguments = ", ".join([*self.names, *self.outputs()])
        for number in range(len(bodies)):
            text += f"    if (size == {number}) size_{number}({arguments});\n"
        return text + "}\n"

    def narrow(self, results):
        """Takes a smaller absolute tolerance where results are small: with KernelBench's own, zeros would be right for a
        softmax over many columns."""
        for value in results:
            if value.is_floating_point():
                size = value.double().square().mean().sqrt().item()
                if size < RESULT_LEAST:
                    raise Unsupported("its result is zero, or what rounding left of it")
                # An infinite or undefined result says nothing of its size.
                self.absolute = min(self.absolute, TOLERANCE * size) if math.isfinite(size) else self.absolute

    def verify(self):
        """Compares with PyTorch at every size, over parameters and inputs of the module's own."""
        one, other = (Instance(self.texts[0], seed).run() for seed in SEEDS)
        self.narrow(one)
        if all(torch.allclose(a, b, rtol=TOLERANCE, atol=self.absolute, equal_nan=True) for a, b in zip(one, other)):
            raise Unsupported("its result is the same for other inputs: a constant would be right")
        with tempfile.TemporaryDirectory() as folder:
            source, library = pathlib.Path(folder, "reference.cpp"), pathlib.Path(folder, "reference.so")
            source.write_text(self.source)
            command = ["g++", "-std=c++17", "-O1", "-w", "-DASSAY_ON_CPU", "-shared", "-fPIC", "-o", library, source]
            made = subprocess.run(command, capture_output=True, text=True)
            if made.returncode:
                raise RuntimeError(f"its reference does not compile: {made.stderr[:2000]}")
            function = ctypes.CDLL(library).reference
            for number, text in enumerate(self.texts):
                for seed in SEEDS:
                    self.compare(function, number, Instance(text, seed))

    def compare(self, function, number, instance):
        given = [*instance.parameters.values(), *instance.tensors]
        given = [value.contiguous() for value in given]
        wanted = instance.run()
        # An element that is never written must not pass for a zero.
        got = [torch.full(value.shape, 77, dtype=value.dtype) for value in wanted]
        function(*[ctypes.c_void_p(value.data_ptr()) for value in given + got], ctypes.c_int(number))
        far = self.farthest(got, wanted)
        if far and self.farthest(got, instance.run_in_double()):
            raise Unsupported(f"its reference and PyTorch differ by {far:g}")

    def farthest(self, got, wanted):
        """The largest difference, if one is beyond the tolerance."""
        for one, want in zip(got, wanted):
            one, want = one.double(), want.double()
            if not torch.allclose(one, want, rtol=TOLERANCE, atol=self.absolute, equal_nan=True):
                return (one - want).abs().max().item()
        return None
