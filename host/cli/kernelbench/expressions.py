"""Element-wise operators as expressions of C++ over `a`, `b` and `c`, and numbers in their types."""

import math

import torch

from emit import Value

UNARY = {
    "relu": "a > 0 || a != a ? a : 0", "exp": "exp(a)", "log": "log(a)", "log1p": "log1p(a)", "log2": "log2(a)",
    "log10": "log10(a)", "expm1": "expm1(a)", "exp2": "exp2(a)", "sqrt": "sqrt(a)", "rsqrt": "1 / sqrt(a)",
    "abs": "a < 0 ? -a : a", "neg": "-a", "tanh": "tanh(a)", "sigmoid": "1 / (1 + exp(-a))", "sin": "sin(a)",
    "cos": "cos(a)", "tan": "tan(a)", "atan": "atan(a)", "sinh": "sinh(a)", "cosh": "cosh(a)", "erf": "erf(a)",
    "floor": "floor(a)", "ceil": "ceil(a)", "round": "rint(a)", "trunc": "trunc(a)", "reciprocal": "1 / a",
    "sign": "a > 0 ? 1 : a < 0 ? -1 : 0", "logical_not": "a == 0", "bitwise_not": "a == 0", "isnan": "a != a",
    "erfc": "erfc(a)",
}
BINARY = {
    "mul": "a * b", "maximum": "a != a || a > b ? a : b", "minimum": "a != a || a < b ? a : b", "atan2": "atan2(a, b)",
    "logical_and": "a != 0 && b != 0", "logical_or": "a != 0 || b != 0", "logical_xor": "(a != 0) != (b != 0)",
    "bitwise_and": "a & b", "bitwise_or": "a | b", "bitwise_xor": "a ^ b",
}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def promoted(operands):
    kinds = [value.layout.dtype for value in operands if isinstance(value, Value)]
    if any(isinstance(value, float) for value in operands) and not any(kind.is_floating_point for kind in kinds):
        return torch.float32
    found = kinds[0]
    for kind in kinds[1:]:
        found = torch.promote_types(found, kind)
    return torch.int64 if found == torch.bool else found


def substituted(expression, letters):
    """The expression with its one-letter names replaced."""
    word = ""
    for letter in expression + " ":
        if letter.isalnum() or letter in "._":
            word += letter
            continue
        yield letters.get(word, word)
        word = ""
        yield letter


def literal(value, kind):
    """A number as the text of an expression in a type."""
    if kind in ("float", "double"):
        value = float(value)
        if value != value:
            return "NAN"
        if math.isinf(value):
            return "INFINITY" if value > 0 else "(-INFINITY)"
        text = repr(value)
        return f"({text}f)" if kind == "float" else f"({text})"
    return f"({int(value)})"


def literal_argument(number, kind):
    return f"({kind}){literal(number, 'double' if kind in ('float', 'double') else kind)}"
