"""What a plugin says of itself, what it is given and what it returns.

The names are those of the interface file, `sdk/wit/reward/reward.wit`. All of it is plain data that never
refers to the host, so that a plugin's tests run on any Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union, overload

from . import read
from .errors import BadRequest, Internal

T = TypeVar("T")
Data = bytes
"""As `Artifact` has a field of that name."""


@dataclass(frozen=True)
class Stage:
    """One stage. `pool` is the kind of worker that it runs on.

    The memory counts the interpreter and all that was imported: 256 MiB are enough for most.
    """

    name: str
    pool: str = "cpu"
    timeout_ms: int = 1_000
    memory_mib_max: int = 256
    retries_max: int = 0
    """How often the platform tries again after `Unavailable`."""


@dataclass(frozen=True)
class Description:
    """What a plugin is: asked once, at upload. Schemas are JSON Schema, as an object or as text."""

    name: str
    version: str
    summary: str = ""
    stages: Sequence[Stage] = ()
    settings_schema: str | Mapping[str, Any] = ""
    label_schema: str | Mapping[str, Any] = ""
    timeout_reward: float = 0.0
    """The reward of a request one of whose stages ran into its timeout."""
    deterministic: bool = True
    """The same input gives the same reward: equal requests may share one computation."""


@dataclass(frozen=True)
class Artifact:
    """Bytes handed from one stage to the next."""

    content_type: str
    bytes: Data

    @classmethod
    def raw(cls, data: Data) -> Artifact:
        """Bytes of the plugin's own format."""
        return cls("application/octet-stream", data)

    @classmethod
    def text(cls, text: str) -> Artifact:
        return cls("text/plain; charset=utf-8", text.encode())

    @classmethod
    def json(cls, value: Any) -> Artifact:
        """A JSON value or a dataclass of such; `Internal` where it has no JSON form."""
        try:
            return cls("application/json", json.dumps(read.plain(value)).encode())
        except (TypeError, ValueError) as problem:
            raise Internal(f"cannot write the artifact: {problem}") from problem

    def as_text(self) -> str:
        """The bytes as text; `Internal` where they are none."""
        try:
            return self.bytes.decode()
        except UnicodeDecodeError as problem:
            raise Internal(f"the artifact is no text: {problem}") from problem

    @overload
    def as_json(self) -> Any: ...
    @overload
    def as_json(self, hint: type[T]) -> T: ...
    def as_json(self, hint: Any = Any) -> Any:
        """The bytes as JSON of that type; `Internal` where they do not fit."""
        try:
            return read.text(self.as_text(), hint, "artifact")
        except read.DoesNotFit as problem:
            raise Internal(f"the artifact does not fit: {problem}") from problem


@dataclass(frozen=True)
class Request:
    """One reward computation as the trainer sent it; `label` and `metadata` are JSON text."""

    id: str
    group: str | None
    prompt: str
    response: str
    label: str = "null"
    metadata: str = "null"
    attempt: int = 1
    """From 1."""
    seed: int = 0
    """All randomness comes from it: `random` is seeded with it before each stage."""

    @overload
    def label_as(self) -> Any: ...
    @overload
    def label_as(self, hint: type[T]) -> T: ...
    def label_as(self, hint: Any = Any) -> Any:
        """The label as that type; `BadRequest` where it is none."""
        return self._as(self.label, hint, "label")

    @overload
    def metadata_as(self) -> Any: ...
    @overload
    def metadata_as(self, hint: type[T]) -> T: ...
    def metadata_as(self, hint: Any = Any) -> Any:
        """The metadata as that type; `BadRequest` where it is none."""
        return self._as(self.metadata, hint, "metadata")

    @staticmethod
    def _as(text: str, hint: Any, name: str) -> Any:
        try:
            return read.text(text, hint, name)
        except read.DoesNotFit as problem:
            raise BadRequest(str(problem)) from problem


@dataclass(frozen=True)
class Scored:
    """The end of a request: a finite reward and the plugin's word for what happened."""

    reward: float
    verdict: str
    components: Mapping[str, float] = field(default_factory=dict)
    """The parts that the reward was made from."""
    explanation: str = ""
    """For the person who asks why."""


Outcome = Union[Scored, Artifact]
"""`Scored` ends the request at whatever stage; an `Artifact` goes on to the next one."""
