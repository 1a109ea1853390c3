"""The component's side of a plugin: imported by the module that the builder generates, as the plugin is
built and nowhere else.

What `start` leaves in memory is the snapshot that every call starts from: the author's modules, all that
they may import later, and the plugin's description. It must not reach for the host, which is not there yet.
"""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import json
import linecache
import logging
import os
import random
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

from componentize_py_types import Err
from wit_world.imports import reward_types

from . import errors, log, plugin
from .host import plugin_error, sendable
from .values import Artifact, Description, Request, Scored

MAIN = "plugin"
"""The author's module."""
PROJECT = "/0/assay-project.json"
"""What `start` gets where a kept interpreter is continued."""
REPORT = "/0/assay-report.json"
"""Where the builder reads what became of it; the author's folder is mounted at /0."""
LOCATION_LINES_MAX = 24
_CLEARED = ((8_000, 2_000), (1_000, 8_000))
"""Bytes of a block and their number: by their sum the memory of an instance may grow, untouched."""

_ERRORS = {
    errors.BadRequest: reward_types.Error_BadRequest,
    errors.BadSettings: reward_types.Error_BadSettings,
    errors.Unavailable: reward_types.Error_Unavailable,
    errors.Internal: reward_types.Error_Internal,
}


class Exported:
    """What the host calls: the interface `plugin` of the world."""

    def __init__(self, made: plugin.Plugin, description: Any) -> None:
        self._plugin = made
        self._description = description

    def describe(self) -> Any:
        return self._description

    def run_stage(self, stage: str, settings: str, request: Any, input: Any | None) -> Any:
        random.seed(request.seed)
        given = Request(
            request.id,
            request.group,
            request.prompt,
            request.response,
            request.label,
            request.metadata,
            request.attempt,
            request.seed,
        )
        artifact = None if input is None else Artifact(input.content_type, input.bytes)
        try:
            return _outcome(self._plugin.run_stage(stage, settings, given, artifact))
        except MemoryError:
            # Ends the instance: the host knows whether a limit was met, and which.
            os.abort()
        except Exception as problem:
            raise _failure(plugin_error(problem)) from None
        except BaseException as problem:
            # `sys.exit`, for instance, which ends nothing here.
            raise _failure(problem) from None


def start(modules: Sequence[str], project: Sequence[str]) -> Callable[[], Exported]:
    """Imports the author's module and all of `modules`, and returns what makes the component's export.

    `project` names the author's own files, whose lines tracebacks shall show.
    """
    _stand_in_for_ctypes()
    report: dict[str, Any] = {"missing": {}}
    try:
        importlib.import_module(MAIN)
        made = plugin.exported()
        described = made.describe()
        description = _description(described)
    except BaseException as problem:
        report["problem"] = _told(problem)
        _write(report)
        raise SystemExit(1) from None
    for name in modules:
        _import(name, report["missing"])
    report["name"], report["version"] = described.name, described.version
    report["modules"] = len(sys.modules)
    _write(report)
    _close(report["missing"], project)
    return lambda: Exported(made, description)


class Base:
    """The interpreter without a plugin. It becomes the plugin as it describes itself for the first time, which it does
    once, as the plugin is built; the author's folder is then mounted at /0.
    """

    def __init__(self) -> None:
        self._exported: Exported | None = None

    def describe(self) -> Any:
        if self._exported is None:
            importlib.invalidate_caches()
            with open(PROJECT, encoding="utf-8") as file:
                given = json.load(file)
            self._exported = start(given["modules"], given["project"])()
        return self._exported.describe()

    def run_stage(self, stage: str, settings: str, request: Any, input: Any | None) -> Any:
        if self._exported is None:
            raise RuntimeError("this component has no plugin yet")
        return self._exported.run_stage(stage, settings, request, input)


def base(modules: Sequence[str], libraries: Sequence[str]) -> Callable[[], Base]:
    """Imports the modules, as far as they can be, and copies the libraries of this Python to where the builder finds
    them: they are mounted again when the author's modules are imported.
    """
    _stand_in_for_ctypes()
    for name in modules:
        _import(name, {})
    for name in libraries:
        _copy(f"/{name}", f"/0/libraries/{name}")
    gc.collect()
    # Called for each function of the interface, which all belong to the same plugin.
    one = Base()
    return lambda: one


def _copy(folder: str, to: str) -> None:
    os.makedirs(to)
    for name in os.listdir(folder):
        path = f"{folder}/{name}"
        if os.path.isdir(path):
            _copy(path, f"{to}/{name}")
        else:
            with open(path, "rb") as source, open(f"{to}/{name}", "wb") as target:
                target.write(source.read())


def _write(report: dict[str, Any]) -> None:
    with open(REPORT, "w", encoding="utf-8") as file:
        json.dump(report, file)


def _told(problem: BaseException) -> dict[str, Any]:
    """An exception for the builder, which explains it."""
    missing = problem.name if isinstance(problem, ImportError) else None
    return {
        "kind": type(problem).__name__,
        "message": str(problem),
        "missing": missing,
        "traceback": "".join(_lines(problem)),
    }


def _import(name: str, missing: dict[str, str]) -> None:
    if name in sys.modules:
        return
    try:
        importlib.import_module(name)
    except BaseException as problem:
        missing[name] = f"{type(problem).__name__}: {problem}"[:200]


def _close(missing: dict[str, str], project: Sequence[str]) -> None:
    """From here on there are no files: what has been imported is all there is."""
    for name in project:
        path = f"/0/{name}"
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines(keepends=True)
        linecache.cache[path] = (0, None, lines, path)
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.meta_path[:] = [
        finder
        for finder in sys.meta_path
        if getattr(finder, "__name__", "") in ("BuiltinImporter", "FrozenImporter")
    ]
    sys.meta_path.append(NotImported(missing))
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(log.Handler())
        root.setLevel(logging.INFO)
    gc.collect()
    _clear_freed_memory()
    # The snapshot's objects are never garbage: no collection walks, and so copies, their pages.
    gc.freeze()


def _clear_freed_memory() -> None:
    """What compiling the modules left is freed, but not gone: it would be part of the component.

    New blocks take freed memory first; what they take is zero, and zeros are left out.
    """
    for size, count in _CLEARED:
        blocks = [bytes(size) for _ in range(count)]
        del blocks


class NotImported(importlib.abc.MetaPathFinder):
    """Says why a module is not there."""

    def __init__(self, missing: dict[str, str]) -> None:
        self._missing = missing

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname in self._missing:
            why = f"it could not be imported as the plugin was built: {self._missing[fullname]}"
        else:
            why = "it was not imported as the plugin was built; import it at the top of a module"
        raise ModuleNotFoundError(f"there is no module `{fullname}`: {why}", name=fullname)


def _stand_in_for_ctypes() -> None:
    """Packages ask it for the width of a C type as they are imported; there is nothing to call by it."""
    stand_in = types.ModuleType("ctypes")

    def sizeof(kind: Any) -> int:
        return int(kind.bytes)

    stand_in.sizeof = sizeof  # type: ignore[attr-defined]
    for name, count in (("c_long", 4), ("c_ulong", 4), ("c_int", 4), ("c_longlong", 8), ("c_void_p", 4)):
        setattr(stand_in, name, type(name, (), {"bytes": count}))
    sys.modules["ctypes"] = stand_in


def _description(described: Any) -> Any:
    if not isinstance(described, Description):
        raise TypeError(f"`describe` returned `{described!r}`, no Description")
    stages = [
        reward_types.Stage(
            name=_text(stage.name, "a stage's name"),
            pool=_text(stage.pool, "pool"),
            timeout_ms=_count(stage.timeout_ms, "timeout_ms", 32),
            memory_bytes_max=_count(stage.memory_mib_max, "memory_mib_max", 32) << 20,
            retries_max=_count(stage.retries_max, "retries_max", 32),
        )
        for stage in described.stages
    ]
    return reward_types.Description(
        name=_text(described.name, "name"),
        version=_text(described.version, "version"),
        summary=_text(described.summary, "summary"),
        stages=stages,
        settings_schema=_schema(described.settings_schema),
        label_schema=_schema(described.label_schema),
        timeout_reward=_number(described.timeout_reward, "timeout_reward"),
        deterministic=bool(described.deterministic),
    )


def _schema(schema: Any) -> str:
    return sendable(schema) if isinstance(schema, str) else json.dumps(schema)


def _outcome(outcome: Any) -> Any:
    if isinstance(outcome, Artifact):
        if not isinstance(outcome.bytes, (bytes, bytearray)):
            raise TypeError(f"an artifact is made of bytes, not of {type(outcome.bytes).__name__}")
        content_type = _text(outcome.content_type, "content_type")
        return reward_types.Outcome_Next(reward_types.Artifact(content_type, bytes(outcome.bytes)))
    if not isinstance(outcome, Scored):
        raise TypeError(f"the stage returned {type(outcome).__name__}, neither Scored nor Artifact")
    components = [
        reward_types.Component(_text(name, "a component's name"), _number(value, name))
        for name, value in outcome.components.items()
    ]
    return reward_types.Outcome_Scored(
        reward_types.Scored(
            reward=_number(outcome.reward, "reward"),
            verdict=_text(outcome.verdict, "verdict"),
            components=components,
            explanation=_text(outcome.explanation, "explanation"),
        )
    )


def _text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return sendable(value)
    raise TypeError(f"{name} is a str, not {type(value).__name__}")


def _number(value: Any, name: str) -> float:
    # A text is none, whatever it looks like; a number of a package's own is one.
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise TypeError(f"{name} is a number, not {type(value).__name__}")


def _count(value: Any, name: str, bits: int) -> int:
    if type(value) is int and 0 <= value < 1 << bits:
        return value
    raise TypeError(f"{name} is an integer from 0, not {value!r}")


def _failure(problem: BaseException) -> Err[Any]:
    if isinstance(problem, errors.Error):
        for kind, sent in _ERRORS.items():
            if isinstance(problem, kind):
                return Err(sent(sendable(problem.message)))
    for line in _lines(problem):
        log.error(line.rstrip("\n"))
    return Err(reward_types.Error_Internal(sendable(_one_line(problem))))


def _one_line(problem: BaseException) -> str:
    where = ""
    frames = traceback.extract_tb(problem.__traceback__)
    for frame in frames:
        if frame.filename.startswith("/0/") and not _is_ours(frame.filename):
            where = f" ({_local(frame.filename)}, line {frame.lineno})"
    return f"{type(problem).__name__}: {problem}{where}"


def _lines(problem: BaseException) -> list[str]:
    """The traceback from the author's own code on, its middle left out where it is long."""
    told = traceback.TracebackException.from_exception(problem, limit=-LOCATION_LINES_MAX)
    while told.stack and _is_ours(told.stack[0].filename):
        del told.stack[0]
    text = "".join(told.format()).replace('File "/0/', 'File "').replace('File "/1/', 'File "')
    lines = text.splitlines(keepends=True)
    if len(lines) <= 2 * LOCATION_LINES_MAX:
        return lines
    return [*lines[:LOCATION_LINES_MAX], "  ...\n", *lines[-LOCATION_LINES_MAX:]]


def _is_ours(path: str) -> bool:
    return path.startswith(("/0/assay_plugin/", "/0/assay_component", "<frozen importlib"))


def _local(path: str) -> str:
    return path.removeprefix("/0/")
