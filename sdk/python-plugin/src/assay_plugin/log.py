"""Lines shown with the request. The platform keeps the first 64 of a stage, each cut at 1 KiB.

Python's own `logging` arrives here as well, from the level INFO on.
"""

from __future__ import annotations

import logging
import sys

from .host import IN_COMPONENT, sendable

_LEVELS = (("debug", 10), ("info", 20), ("warn", 30), ("error", 40))


def debug(message: str) -> None:
    _write("debug", message)


def info(message: str) -> None:
    _write("info", message)


def warn(message: str) -> None:
    _write("warn", message)


def error(message: str) -> None:
    _write("error", message)


class Handler(logging.Handler):
    """Hands the records of `logging` over."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "debug"
        for name, number in _LEVELS:
            if record.levelno >= number:
                level = name
        _write(level, self.format(record))


if IN_COMPONENT:
    from wit_world.imports import log as _log

    def _write(level: str, message: str) -> None:
        _log.write(_log.Level[level.upper()], sendable(message))

else:

    def _write(level: str, message: str) -> None:
        """A native test has no host to call."""
        print(f"{level}: {message}", file=sys.stderr)
