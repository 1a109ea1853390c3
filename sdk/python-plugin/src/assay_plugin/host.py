"""Where the plugin meets its host: what can cross, and what the host's errors become.

The host's functions raise `HostError`, whose `value` says what happened; one that nobody catches becomes
the plugin error that it stands for, so that a fault of the platform's stays one and is tried again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from componentize_py_types import Err as HostError

from .errors import Error

IN_COMPONENT = sys.platform == "wasi"
"""Natively, in a test, there is no host to call: its functions raise `NotImplementedError`."""

_stand_for: dict[type, Callable[[Any], Error]] = {}


def stands_for(kinds: dict[type, Callable[[Any], Error]]) -> None:
    """Says what uncaught errors of the host become."""
    _stand_for.update(kinds)


def plugin_error(error: Exception) -> Exception:
    """The plugin's error that an error of the host stands for; any other as it is."""
    if isinstance(error, HostError) and type(error.value) in _stand_for:
        return _stand_for[type(error.value)](error.value)
    return error


def sendable(text: str) -> str:
    """The text without what UTF-8 cannot hold: half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


__all__ = ["IN_COMPONENT", "HostError", "plugin_error", "sendable", "stands_for"]
