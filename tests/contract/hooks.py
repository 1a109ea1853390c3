"""Keeps a run from taking away what it stands on, and notes what was answered.

Everything else is called as generated. What is guarded comes from run.py in CONTRACT_WORLD.
"""

import json
import os
import pathlib

import schemathesis

WORLD = json.loads(pathlib.Path(os.environ["CONTRACT_WORLD"]).read_text())


@schemathesis.serializer("application/wasm")
def bytes_as_they_are(context, value):
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.serializer("application/x-ndjson")
def one_line(context, value):
    return json.dumps(value).encode() + b"\n"


@schemathesis.deserializer("application/x-ndjson")
def first_line(context, response):
    """Each line is one of what the document describes; so is the first, where there is one."""
    if not response.content:
        # There is nothing to compare with the document.
        raise NotImplementedError
    return json.loads(response.content.split(b"\n")[0])


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.method.upper() != "GET":
        spare_what_is_needed(case)
    elif case.operation.path == "/v1/samples":
        name_one_run(case)


@schemathesis.hook
def after_call(context, case, response):
    """For run.py, which looks whether the pass saw anything but refusals."""
    with open(WORLD["calls"], "a", encoding="utf-8") as calls:
        calls.write(f"{case.operation.label}\t{response.status_code}\n")


def name_one_run(case):
    """One way to say whose samples, where the call is to be a right one: no schema says "exactly one of"."""
    if case.meta and case.meta.generation.mode.is_positive:
        others = {name: value for name, value in (case.query or {}).items() if name not in ("batch", "plugin")}
        case.query = {**others, "run": "first"}


def spare_what_is_needed(case):
    """Another key, person, tenant or pool instead of those that the run needs."""
    instead = WORLD["yanked"] if case.operation.path.endswith("/yank") else WORLD["stand_ins"]
    for parameters in (case.path_parameters, case.query):
        for name, value in (parameters or {}).items():
            if isinstance(value, str) and value in instead:
                parameters[name] = instead[value]
