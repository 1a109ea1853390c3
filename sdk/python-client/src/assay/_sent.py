"""Calls as JSON. A value that cannot be sent is an error that names its request and its field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

#: The fields that must be texts where they are there.
_TEXTS = ("key", "group", "prompt", "response")


def encoded(what: str, fields: Mapping[str, Any]) -> bytes:
    """The JSON of a call. `what` names it in errors. NaN and half characters are no JSON."""
    for name in _TEXTS:
        if name in fields and not isinstance(fields[name], str):
            raise TypeError(f"`{name}` of {what} must be a text, not {_shown(fields[name])}")
    try:
        return _json(fields)
    except (TypeError, ValueError):
        for name, value in fields.items():
            _check(f"`{name}` of {what}", value)
        raise


def _check(what: str, value: Any) -> None:
    try:
        _json(value)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what} has half a character (a lone surrogate) at {error.start} of its JSON, "
            'which is no text; decode bytes and tokens with errors="replace"'
        ) from None
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: {error}") from None


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=plain).encode()


def _shown(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def plain(value: Any) -> Any:
    """Numbers and arrays of numpy, torch and the like as JSON has them."""
    for conversion in ("tolist", "item"):
        if hasattr(value, conversion):
            return getattr(value, conversion)()
    raise TypeError(f"a {type(value).__name__} cannot be sent as JSON")
