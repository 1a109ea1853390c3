"""JSON values as what they should be, or an error: a reward that is no number must never pass for one."""

from __future__ import annotations

from collections.abc import ItemsView
from math import isfinite
from typing import Any

from assay.errors import UnexpectedAnswerError


def _wrong(wanted: str, value: object) -> UnexpectedAnswerError:
    return UnexpectedAnswerError(f"{wanted} was expected, not {type(value).__name__}")


def unknown(union: str, kind: object) -> UnexpectedAnswerError:
    return UnexpectedAnswerError(f"`{kind}` is no {union} that this client knows")


def text(value: object) -> str:
    if not isinstance(value, str):
        raise _wrong("a text", value)
    return value


def integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong("an integer", value)
    return value


def number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise _wrong("a finite number", value)
    return float(value)


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong("true or false", value)
    return value


def items(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong("a list", value)
    return value


def record(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong("an object", value)
    return value


def mapping(value: object) -> ItemsView[str, Any]:
    return record(value).items()
