"""Which of the service's fills makes numbers like those of a tensor."""

import math

import torch

from model import Instance
from source import Unsupported

# So many numbers, and draws, decide.
SAMPLES = 4_000
DRAWS_MAX = 64
# A large tensor is judged by so many numbers from all over it, and by so many rows and columns of its corner.
SAMPLES_MAX = 100_000
CORNER = 256


def fills_of(text, names):
    """The fill of each parameter and input of a task's module, by name, in their order."""
    first = tensors_of(Instance(text, 0))
    for name, tensor in zip(names, first):
        structure = structure_of(tensor)
        if structure:
            raise Unsupported(f"`{name}` {structure}, which no fill makes")
    drawn = [sample(tensor) for tensor in first]
    del first
    for seed in range(1, DRAWS_MAX):
        wanted = [at for at, numbers in enumerate(drawn) if wants_more(numbers, seed)]
        if not wanted:
            break
        more = tensors_of(Instance(text, seed), wanted)
        for at in wanted:
            drawn[at] = torch.cat([drawn[at], sample(more[at])])
    return {name: fill_of(name, numbers) for name, numbers in zip(names, drawn)}


def tensors_of(instance, wanted=None):
    """Parameters, then inputs, which are made only if one of them is wanted."""
    held = [*instance.parameters.values()]
    inputs = wanted is None or any(at >= len(held) for at in wanted)
    return held + (instance.tensors if inputs else [])


def wants_more(numbers, seed):
    constant = seed > 4 and numbers.min() == numbers.max()
    return numbers.numel() < SAMPLES and not constant


def fill_of(name, numbers):
    """The fill that makes numbers like these."""
    if not numbers.dtype.is_floating_point:
        drawn = numbers.long()
        low, high = drawn.min().item(), drawn.max().item()
        found = torch.unique(drawn).numel()
        if found < min(high - low + 1, 3):
            raise Unsupported(f"`{name}` holds integers that no fill makes")
        return {"integers": [low, high]} if (low, high) != (0, 0) else "zeros"
    numbers = numbers.double()
    low, high = numbers.min().item(), numbers.max().item()
    if low == high:
        return constant(low)
    count = numbers.numel()
    ordered = numbers.sort().values
    places = (torch.arange(count, dtype=torch.float64) + 0.5) / count
    # Kolmogorov and Smirnov's distance, far beyond what chance makes.
    far = 2.2 / math.sqrt(count)
    slack = (high - low) * 8 / count
    begin, end = tidy(low, slack), tidy(high, slack)
    uniform = ((ordered - begin) / (end - begin)).clamp(0, 1)
    if (uniform - places).abs().max().item() < far:
        return {"uniform": [begin, end]}
    mean, deviation = numbers.mean().item(), numbers.std().item()
    normal = torch.special.ndtr((ordered - mean) / deviation)
    if (normal - places).abs().max().item() < far:
        slack = 4 * deviation / math.sqrt(count)
        return {"normal": [tidy(mean, slack), tidy(deviation, slack)]}
    raise Unsupported(f"`{name}` holds numbers that no fill makes: neither uniform nor normal")


def structure_of(tensor):
    """What an answer may rely on beyond the kind of each number."""
    if tensor.dim() < 2 or min(tensor.shape[-2:]) < 4 or tensor.min() == tensor.max():
        return None
    corner = tensor[..., :CORNER, :CORNER]
    if tensor.shape[-1] == tensor.shape[-2] and torch.equal(corner, corner.transpose(-1, -2)):
        return "is symmetric"
    rows = tensor.reshape(-1, tensor.shape[-1])[:CORNER].double()
    sums = rows.sum(dim=-1)
    if torch.allclose(sums, sums[0].expand_as(sums), rtol=1e-4):
        return "has rows of one sum"
    if bool((rows.diff(dim=-1) >= 0).all()):
        return "has sorted rows"
    return None


def tidy(value, slack):
    """The whole number nearby, if there is one, else four digits."""
    return float(round(value)) if abs(value - round(value)) < slack else float(f"{value:.4g}")


def sample(tensor):
    flat = tensor.reshape(-1)
    return flat[:: max(1, flat.numel() // SAMPLES_MAX)]


def constant(value):
    if value == 0:
        return "zeros"
    if value == int(value):
        return {"integers": [int(value), int(value)]}
    return {"uniform": [value, math.nextafter(value, math.inf)]}
