"""Which of the service's fills makes numbers like those of a tensor."""

import math

import torch

from source import Unsupported

# So many numbers, and draws, decide.
SAMPLES = 4_000
DRAWS_MAX = 64
# Of a large tensor, numbers from all over it.
SAMPLES_MAX = 100_000


def fill_of(name, draw):
    """`draw(seed)` gives the tensor of a seed; as many are drawn as a decision needs."""
    whole = draw(0)
    structure = structure_of(whole)
    if structure:
        raise Unsupported(f"`{name}` {structure}, which no fill makes")
    first = sample(whole)
    numbers, seed = first, 1
    while numbers.numel() < SAMPLES and seed < DRAWS_MAX and not (seed > 4 and numbers.min() == numbers.max()):
        numbers = torch.cat([numbers, sample(draw(seed))])
        seed += 1
    if not first.dtype.is_floating_point:
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
    tensor = tensor.double()
    if tensor.shape[-1] == tensor.shape[-2] and torch.equal(tensor, tensor.transpose(-1, -2)):
        return "is symmetric"
    sums = tensor.sum(dim=-1)
    if torch.allclose(sums, sums.reshape(-1)[0].expand_as(sums), rtol=1e-4):
        return "has rows of one sum"
    if bool((tensor.diff(dim=-1) >= 0).all()):
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
