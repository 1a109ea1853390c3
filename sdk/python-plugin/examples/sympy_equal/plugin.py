"""Whether a formula equals the label's, by SymPy: `(x + 1)^2` and `x^2 + 2*x + 1` do."""

import sympy
from expression import NoExpression, read

from assay_plugin import BadRequest, FunctionPlugin, Scored, export

plugin = FunctionPlugin(
    "sympy-equal",
    "0.1.0",
    summary="1 when the formula after the last `Answer:` equals the label, by SymPy",
)


@plugin.stage(timeout_ms=5_000, memory_mib_max=512)
def score(response: str, label: str) -> Scored:
    try:
        expected = read(label)
    except NoExpression as problem:
        raise BadRequest(f"label: {problem}") from problem
    _, mark, answer = response.rpartition("Answer:")
    if not mark:
        return Scored(0.0, "no_answer", explanation="the response has no `Answer:`")
    try:
        given = read(answer)
    except NoExpression as problem:
        return Scored(0.0, "unreadable", explanation=str(problem))
    if equal(given, expected):
        return Scored(1.0, "success")
    return Scored(0.0, "wrong", explanation=f"expected {label}")


def equal(left: sympy.Expr, right: sympy.Expr) -> bool:
    return left == right or sympy.simplify(left - right) == 0


# Runs once, as the plugin is built: what SymPy makes at its first use is then there for every call.
equal(read("(x + 1)^2 + sin(x)^2"), read("x^2 + 2*x + 2 - cos(x)^2"))

export(plugin)
