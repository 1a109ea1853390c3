"""Smaller and other sizes of a task, by its own constants: what works is found by trying it."""

from model import cost
from source import Unsupported

# No dimension of a result becomes smaller than this: one of a single element shows little.
RESULT_SMALLEST = 3
# Odd numbers up to here are the sizes of windows, mostly.
SMALLEST = 8


def shrunk(source, work_max, bytes_max):
    """Values at which the task takes no more, near those of the file."""
    values = list(source.values)
    now = first = cost(source.with_values(values))
    strict = True

    def tried_at(tried):
        found = tried_cost(source, tried)
        fine = found and found["work"] < now["work"] and (shows_enough(found, first) or not strict)
        return found if fine else None

    while now["work"] > work_max or now["bytes"] > bytes_max:
        best = None
        for at, value in enumerate(values):
            for divisor in (2, 3, 5, 7):
                if value > 3 and value % divisor == 0 and value // divisor >= 2:
                    tried = values[:at] + [value // divisor] + values[at + 1 :]
                    found = tried_at(tried)
                    if found:
                        # The largest constants give way first.
                        if best is None or value > best[0]:
                            best = (value, tried, found)
                        break
        if best is None:
            best = together(values, tried_at) or odd_steps(values, tried_at)
        if best is None and now["work"] <= 10 * work_max and now["bytes"] <= bytes_max:
            break
        if best is None and strict:
            strict = False
            continue
        if best is None:
            raise Unsupported(f"it cannot be made small: it takes {now['work']:,} steps and {now['bytes']:,} bytes")
        _, values, now = best
    return values, now


def shows_enough(found, first):
    """Whether no dimension of a result has become a single place, or nearly so."""
    pairs = zip(found["results"], first["results"])
    sizes = [(size, whole) for one, other in pairs for size, whole in zip(one, other)]
    return all(size >= min(whole, RESULT_SMALLEST) for size, whole in sizes)


def together(values, tried_at):
    """Where constants must be equal: half of all that have one value."""
    for value in sorted({value for value in values if value > 3 and value % 2 == 0}, reverse=True):
        tried = [value // 2 if one == value else one for one in values]
        found = tried_at(tried)
        if found:
            return value, tried, found
    return None


def odd_steps(values, tried_at):
    """Where nothing divides: about half of the largest constant that may be anything."""
    for at in sorted(range(len(values)), key=lambda at: -values[at]):
        if values[at] > SMALLEST:
            tried = values[:at] + [(values[at] + 1) // 2] + values[at + 1 :]
            found = tried_at(tried)
            if found:
                return values[at], tried, found
    return None


def varied(source, values, stated, work_max):
    """Values with other shapes of inputs, and the same module; None if every shape belongs to the module."""
    values, now, changed = list(values), stated, False
    for at, value in enumerate(values):
        for other in (value + value // 4 + 1, value + 2, value + 1, value - 1):
            if other < 1:
                continue
            tried = values[:at] + [other] + values[at + 1 :]
            found = tried_cost(source, tried)
            same = found and all(found[key] == now[key] for key in ("init", "parameters"))
            if same and found["inputs"] != now["inputs"] and found["work"] <= 2 * max(work_max, stated["work"]):
                values, now, changed = tried, found, True
                break
    return values if changed else None


def tried_cost(source, values):
    try:
        return cost(source.with_values(values))
    except Exception:
        return None
