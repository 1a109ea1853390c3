"""Reads what a model wrote as a SymPy expression, without ever running it as Python.

SymPy's own parser evaluates its input: a response could then read the label from the interpreter and answer
with it. Here only what stands in these tables becomes part of an expression.
"""

import ast
import math

import sympy

LENGTH_MAX = 500
DIGITS_MAX = 50
_FUNCTIONS = {
    name: getattr(sympy, name)
    for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt")
} | {"ln": sympy.log, "abs": sympy.Abs}
_CONSTANTS = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "oo": sympy.oo}
_OPERATORS = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.Pow: lambda left, right: left**right,
}


class NoExpression(ValueError):
    """Says what cannot be read."""


def read(text: str) -> sympy.Expr:
    """`2*x^2 + sin(x)/3` as an expression; names of one letter are variables."""
    if len(text) > LENGTH_MAX:
        raise NoExpression(f"it has {len(text)} characters, more than {LENGTH_MAX}")
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
    except (SyntaxError, ValueError, RecursionError) as problem:
        raise NoExpression("it is no formula") from problem
    return _expression(tree.body)


def _expression(node: ast.expr) -> sympy.Expr:
    match node:
        case ast.Constant(value=int() as number) if type(number) is int and len(str(number)) <= DIGITS_MAX:
            return sympy.Integer(number)
        case ast.Constant(value=float() as number) if math.isfinite(number):
            return sympy.Rational(repr(number))
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.Name(id=name) if len(name) == 1:
            return sympy.Symbol(name, real=True)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_expression(operand)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return _OPERATORS[type(operator)](_expression(left), _expression(right))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_expression(argument))
    raise NoExpression(f"{type(node).__name__} is no part of a formula")
