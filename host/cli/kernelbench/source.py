"""A task's file: its constants, and its text with others in their place."""

import ast
import types


class Unsupported(Exception):
    """Why a task cannot be imported, in words for the list of those left out."""


class Source:
    """A file of KernelBench: `Model`, `get_inputs`, `get_init_inputs`, and the constants from which sizes are made."""

    def __init__(self, text):
        self.text = text
        self.nodes = []
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.Assign):
                self.nodes += integers(statement.value)
            elif isinstance(statement, ast.FunctionDef) and statement.name == "get_inputs":
                self.nodes += [node for node in ast.walk(statement) if is_integer(node)]
        self.values = [evaluated(node) for node in self.nodes]

    def with_values(self, values):
        """The file with other integers."""
        lines = self.text.encode().splitlines(keepends=True)
        places = sorted(zip(self.nodes, values, self.values), key=lambda place: (place[0].lineno, place[0].col_offset))
        # From the end, so that what comes before stays where it is.
        for node, value, old in reversed(places):
            if value != old:
                first, last = node.lineno - 1, node.end_lineno - 1
                head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
                lines[first : last + 1] = [head + str(value).encode() + tail]
        return b"".join(lines).decode()


def load(text):
    """The namespace that a task's text leaves."""
    module = types.ModuleType("task")
    exec(compile(text, "task.py", "exec"), module.__dict__)
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if not hasattr(module, name):
            raise Unsupported(f"it has no {name}")
    return module


def integers(node):
    """The expressions of integers in a value that is made of numbers alone."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return [found for part in node.elts for found in integers(part)]
    return [] if evaluated(node) is None else [node]


def is_integer(node):
    return isinstance(node, ast.Constant) and type(node.value) is int


def evaluated(node):
    if any(isinstance(part, (ast.Name, ast.Call, ast.Attribute)) for part in ast.walk(node)):
        return None
    try:
        value = eval(compile(ast.Expression(node), "constant", "eval"), {"__builtins__": {}})
    except Exception:
        return None
    return value if type(value) is int else None
