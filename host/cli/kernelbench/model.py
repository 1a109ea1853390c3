"""A task's module and its inputs at given constants, what it computes there, and what that costs."""

from functools import cached_property

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from source import Unsupported, load


class Instance:
    """`Model` with its parameters, and its inputs, both made with one seed as KernelBench does."""

    def __init__(self, text, seed=0):
        self.task, self.seed = load(text), seed

    @cached_property
    def init(self):
        torch.manual_seed(self.seed)
        return list(self.task.get_init_inputs())

    @cached_property
    def model(self):
        values = self.init
        torch.manual_seed(self.seed)
        return self.task.Model(*values)

    @cached_property
    def inputs(self):
        """Tensors, and numbers that stay as they are."""
        torch.manual_seed(self.seed)
        found = list(self.task.get_inputs())
        for at, value in enumerate(found):
            if not isinstance(value, (torch.Tensor, float, int)) or isinstance(value, bool):
                raise Unsupported(f"input {at} of forward is neither a tensor nor a number")
        return found

    @cached_property
    def tensors(self):
        return [value for value in self.inputs if isinstance(value, torch.Tensor)]

    @cached_property
    def parameters(self):
        """By name, in the order of the module; its buffers as well, but for the running ones of normalisation."""
        named = dict(self.model.named_parameters())
        named.update((name, value) for name, value in self.model.named_buffers() if not is_running(name))
        return {name: value.detach() for name, value in named.items()}

    @cached_property
    def running(self):
        """What normalisation counts for later, and does not use while a module is trained."""
        return {name: value for name, value in self.model.named_buffers() if is_running(name)}

    def call(self, parameters, tensors):
        """The results, as a list."""
        tensors = iter(tensors)
        inputs = [next(tensors) if isinstance(value, torch.Tensor) else value for value in self.inputs]
        return results_of(torch.func.functional_call(self.model, parameters, tuple(inputs)))

    def run(self):
        with torch.no_grad():
            return self.call(self.parameters, self.tensors)

    def run_in_double(self):
        """The same with every number in double precision: sums in single precision may be off by more than a tolerance."""
        double = lambda value: value.double() if value.is_floating_point() else value
        held = {name: double(value) for name, value in (self.parameters | self.running).items()}
        with torch.no_grad():
            return self.call(held, map(double, self.tensors))


def is_running(name):
    return name.endswith(("running_mean", "running_var", "num_batches_tracked"))


def results_of(found):
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    if not found or not all(isinstance(value, torch.Tensor) for value in found):
        raise Unsupported("it returns something else than tensors")
    return found


# What an element costs, in products of a sum; a normalisation takes several operators.
ELEMENT = 6
NORMALISATION = 8 * ELEMENT


class Cost(TorchDispatchMode):
    """Counts what operators take, in products of a sum, and what they write."""

    def __init__(self):
        super().__init__()
        self.work = self.bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        each = terms(function.overloadpacket.__name__, args)
        for value in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(value, torch.Tensor):
                self.work += value.numel() * each
                self.bytes += value.numel() * value.element_size()
        return result


def terms(name, args):
    """What an element of a result takes."""
    if name in ("mm", "addmm", "bmm", "baddbmm"):
        return ELEMENT + args[-1].shape[-2]
    if name in ("mv", "addmv", "dot"):
        return ELEMENT + args[-1].numel()
    if name == "convolution":
        weight, transposed = args[1], args[6]
        return ELEMENT + 2 * weight.numel() // weight.shape[1 if transposed else 0]
    if "attention" in name:
        return NORMALISATION + 2 * args[1].shape[-2]
    return NORMALISATION if any(part in name for part in ("norm", "softmax", "pool", "loss")) else ELEMENT


def cost(text):
    """What a size takes, the values that the module is made of, and all shapes; without any memory."""
    with FakeTensorMode(allow_non_fake_inputs=True), Cost() as counted:
        instance = Instance(text)
        given = [*instance.parameters.values(), *instance.tensors]
        counted.work = ELEMENT * sum(value.numel() for value in given)
        counted.bytes = sum(value.numel() * value.element_size() for value in given)
        results = instance.run()
    return {
        "work": counted.work,
        "bytes": counted.bytes,
        "init": instance.init,
        "inputs": [tuple(value.shape) for value in instance.tensors],
        "results": [tuple(value.shape) for value in results],
        "parameters": {name: tuple(value.shape) for name, value in instance.parameters.items()},
    }
