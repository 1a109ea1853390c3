"""What an author writes: a class, or functions with type hints; `export` makes it the component's.

A stage keeps nothing for the next call, whatever it stores: every call is a fresh copy of the instance
as it was when the plugin was built.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable
from typing import Any, Optional, TypeVar, overload

from . import read
from .errors import BadSettings, unknown_stage
from .values import Artifact, Description, Outcome, Request, Stage

T = TypeVar("T")
P = TypeVar("P", bound="Plugin")
C = TypeVar("C", bound="type[Plugin]")
F = TypeVar("F", bound=Callable[..., Outcome])


class Plugin:
    """A reward plugin as a class."""

    def describe(self) -> Description:
        """What the plugin is: called once, as it is built."""
        raise NotImplementedError(f"{type(self).__name__} has no `describe`")

    def run_stage(self, stage: str, settings: str, request: Request, input: Artifact | None) -> Outcome:
        """Runs one stage of one request. `settings` is the run's JSON text (see `settings_as`); `input` is
        what the stage before returned, None at the first.

        An `Error` that is raised is never a reward: there can be none, and its class says whose fault
        that is.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `run_stage`")


@overload
def settings_as(settings: str) -> Any: ...
@overload
def settings_as(settings: str, hint: type[T]) -> T: ...
def settings_as(settings: str, hint: Any = dict) -> Any:
    """The run's settings as that type, usually a dataclass with defaults; `BadSettings` where they are none."""
    try:
        found = read.text(settings, dict, "settings")
        return read.value_as(found, hint, "settings")
    except read.DoesNotFit as problem:
        raise BadSettings(str(problem)) from problem


class FunctionPlugin(Plugin):
    """A reward plugin as functions, one a stage, which run in the order in which they are written.

    A function gets, by the names of its parameters, `request` (a `Request`), `response` and `prompt` (its
    texts), `label`, `metadata` and `settings` (read as the types that their hints name), and `input` (the
    artifact of the stage before, read as JSON unless the hint is `Artifact`). It returns `Scored`, or an
    `Artifact` for the next stage.

        plugin = FunctionPlugin("exact", "0.1.0")

        @plugin.stage()
        def score(response: str, label: str) -> Scored:
            return Scored(1.0, "success") if response.strip() == label else Scored(0.0, "wrong")

        export(plugin)
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        summary: str = "",
        timeout_reward: float = 0.0,
        deterministic: bool = True,
    ) -> None:
        self._about: dict[str, Any] = {
            "name": name,
            "version": version,
            "summary": summary,
            "timeout_reward": timeout_reward,
            "deterministic": deterministic,
        }
        self._stages: dict[str, tuple[Stage, _Called]] = {}

    def stage(
        self,
        name: str | None = None,
        *,
        pool: str = "cpu",
        timeout_ms: int = 1_000,
        memory_mib_max: int = 256,
        retries_max: int = 0,
    ) -> Callable[[F], F]:
        """Makes a function the next stage, called like the function unless a name is given."""

        def add(function: F) -> F:
            called = name or function.__name__
            if called in self._stages:
                raise TypeError(f"two stages are called `{called}`")
            stage = Stage(called, pool, timeout_ms, memory_mib_max, retries_max)
            self._stages[called] = (stage, _Called(function))
            return function

        return add

    def describe(self) -> Description:
        functions = [called for _, called in self._stages.values()]
        return Description(
            stages=[stage for stage, _ in self._stages.values()],
            settings_schema=_schema_of(functions, "settings"),
            label_schema=_schema_of(functions, "label"),
            **self._about,
        )

    def run_stage(self, stage: str, settings: str, request: Request, input: Artifact | None) -> Outcome:
        if stage not in self._stages:
            raise unknown_stage(stage)
        return self._stages[stage][1].call(settings, request, input)


class _Called:
    """A stage's function, and how each of its parameters is read."""

    KNOWN = ("request", "prompt", "response", "label", "metadata", "settings", "input")

    def __init__(self, function: Callable[..., Outcome]) -> None:
        self.function = function
        # The plugin's own locals are none of the module's names that a hint may use.
        hints = typing.get_type_hints(function)
        self.hints: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in self.KNOWN or parameter.kind in (
                parameter.VAR_POSITIONAL,
                parameter.VAR_KEYWORD,
                parameter.POSITIONAL_ONLY,
            ):
                raise TypeError(
                    f"`{function.__name__}` has a parameter `{name}`; a stage gets {', '.join(self.KNOWN)}"
                )
            self.hints[name] = hints.get(name, Any)
        for name in ("label", "metadata", "settings"):
            if name in self.hints:
                read.schema(self.hints[name])

    def call(self, settings: str, request: Request, input: Artifact | None) -> Outcome:
        given: dict[str, Any] = {}
        for name, hint in self.hints.items():
            if name == "request":
                given[name] = request
            elif name in ("prompt", "response"):
                given[name] = getattr(request, name)
            elif name == "label":
                given[name] = request.label_as(hint)
            elif name == "metadata":
                given[name] = request.metadata_as(hint)
            elif name == "settings":
                given[name] = settings_as(settings, dict if hint is Any else hint)
            else:
                given[name] = _input_as(input, hint)
        return self.function(**given)


def _input_as(input: Artifact | None, hint: Any) -> Any:
    if input is None or hint is Artifact or hint == Optional[Artifact]:
        return input
    return input.as_json(hint)


def _schema_of(functions: list[_Called], name: str) -> str:
    """Of the first stage that reads it with a hint; empty where anything goes."""
    for called in functions:
        schema = read.schema(called.hints.get(name, Any))
        if schema:
            return json.dumps(schema)
    return ""


_exported: list[Plugin] = []


@overload
def export(plugin: C) -> C: ...
@overload
def export(plugin: P) -> P: ...
def export(plugin: Any) -> Any:
    """Makes a plugin, or a class of one, the component's. Once a project; also as a decorator."""
    made = plugin() if isinstance(plugin, type) else plugin
    if not isinstance(made, Plugin):
        raise TypeError(f"`{plugin!r}` is no Plugin")
    _exported.append(made)
    return plugin


def exported() -> Plugin:
    """The plugin that was exported; `TypeError` where there is not exactly one."""
    if not _exported:
        raise TypeError("no plugin is exported: write `@export` above its class, or `export(plugin)`")
    if len(_exported) > 1:
        raise TypeError(f"{len(_exported)} plugins are exported; a component has one")
    return _exported[0]
